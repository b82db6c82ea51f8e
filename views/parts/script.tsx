import type { PageContext } from '../page-context.ts';

interface ScriptProps {
  ctx: Pick<PageContext, 'assets' | 'nonce' | 'isPart'>;
  entry: string;
  /** May run before the page is parsed. React moves such a script into the head, once for all parts that need it. */
  early?: boolean;
}

/**
 * Loads `client/entries/<entry>.ts` after the page is parsed. A page includes its own script, so its route need not
 * know it.
 */
export function Script({ ctx, entry, early = false }: ScriptProps) {
  // The page around a part runs what the part needs.
  if (ctx.isPart) return null;
  return <script type="module" async={early} src={ctx.assets.script(entry)} nonce={ctx.nonce} />;
}
