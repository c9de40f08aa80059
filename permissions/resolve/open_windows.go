package resolve

const nonblock = 0
