import type { ReactNode } from 'react';
import type { PageContext } from '../../../views/page-context.ts';
import { textsFor } from '../../texts.ts';

type State = 'rest' | 'hover' | 'focus' | 'active' | 'filled' | 'invalid' | 'readOnly' | 'disabled' | 'busy';

/** One part in one state. `data-look` shows states that otherwise need a pointer or the keyboard. */
export function Specimen({ ctx, state, children }: { ctx: PageContext; state: State; children: ReactNode }) {
  return (
    <div className="specimen">
      <p className="specimen-state">{textsFor(ctx)(`parts.states.${state}`)}</p>
      <div data-look={state}>{children}</div>
    </div>
  );
}

export function Specimens({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="specimens">
      <h3>{title}</h3>
      <div className="specimen-grid">{children}</div>
    </section>
  );
}
