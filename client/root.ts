/** Preact itself (by React's names), in one chunk that only the loader of islands imports. */
import { type ComponentType, createElement } from 'react';
import { hydrateRoot } from 'react-dom/client';

export function hydrate<P extends object>(island: Element, component: ComponentType<P>, props: P): void {
  hydrateRoot(island, createElement(component, props));
}
