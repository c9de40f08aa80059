export { render, h, Fragment, createContext, createRef, cloneElement } from 'preact';
export type { ComponentChildren, ComponentChild, VNode, RefObject, JSX } from 'preact';
export { useState, useEffect, useLayoutEffect, useRef, useMemo, useCallback, useContext, useId, useErrorBoundary } from 'preact/hooks';
export { signal, computed, effect, batch, untracked, useSignal, useComputed, useSignalEffect } from '@preact/signals';
export type { Signal, ReadonlySignal } from '@preact/signals';
export function html(strings: TemplateStringsArray, ...values: unknown[]): any;
