import type { PageContext } from '../page-context.ts';

/** Loads `client/<name>.css`, which only some pages need. React moves the link into the head, once for all parts. */
export function Stylesheet({ ctx, name }: { ctx: Pick<PageContext, 'assets'>; name: string }) {
  return <link rel="stylesheet" href={ctx.assets.style(`client/${name}.css`)} precedence="page" />;
}
