import type { PageContext } from '../page-context.ts';

/** Loads `client/entries/<entry>.ts` once the page is parsed. A page brings its script along, its route need not know. */
export function Script({ ctx, entry }: { ctx: Pick<PageContext, 'assets' | 'nonce'>; entry: string }) {
  return <script type="module" src={ctx.assets.script(entry)} nonce={ctx.nonce} />;
}
