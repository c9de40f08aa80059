// Texts of Settings.
export default {};
