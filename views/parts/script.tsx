import type { PageContext } from '../page-context.ts';

interface ScriptProps {
  ctx: Pick<PageContext, 'assets' | 'nonce'>;
  entry: string;
  /** May run before the page is parsed. React lifts such a script into the head, once however many parts ask for it. */
  early?: boolean;
}

/** Loads `client/entries/<entry>.ts` once the page is parsed. A page brings its script along, its route need not know. */
export function Script({ ctx, entry, early = false }: ScriptProps) {
  return <script type="module" async={early} src={ctx.assets.script(entry)} nonce={ctx.nonce} />;
}
