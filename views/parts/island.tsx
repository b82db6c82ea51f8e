import type { ComponentType } from 'react';
import type { PageContext } from '../page-context.ts';
import { Script } from './script.tsx';

/**
 * When the browser loads React and the island's own code: at the first pointer, focus or key on it, or when it is idle.
 */
type IslandLoad = 'touch' | 'idle';

interface IslandProps<P extends object> {
  ctx: Pick<PageContext, 'assets' | 'nonce' | 'isPart'>;
  /** Of `client/islands/<name>.tsx`, whose first rendering must be `view` with these props. */
  name: string;
  load?: IslandLoad;
  /** The island's markup without its state: the content without JavaScript. */
  view: ComponentType<P>;
  /** Also sent to the browser as JSON: texts and values, no functions, no elements, no secrets. */
  props: P;
}

/** A component with state in the browser. `client/hydrate.ts` finds it by its attributes and hydrates it. */
export function Island<P extends object>({ ctx, name, load = 'touch', view: View, props }: IslandProps<P>) {
  return (
    <>
      <Script ctx={ctx} entry="hydrate" early />
      <div data-island={name} data-load={load} data-props={JSON.stringify(props)}>
        <View {...props} />
      </div>
    </>
  );
}
