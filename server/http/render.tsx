/** Renders a page's component to the document that is sent. */
import type { ReactElement } from 'react';
import { renderToString } from 'react-dom/server';
import type { PageContext, PageHead } from '../../views/page-context.ts';
import { Script } from '../../views/parts/script.tsx';

function Document({ ctx, head, page }: { ctx: PageContext; head: PageHead; page: ReactElement }) {
  const { assets, brand } = ctx;
  return (
    <html lang={ctx.lang}>
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{head.title === brand.name ? brand.name : `${head.title} · ${brand.name}`}</title>
        {head.refreshTo !== undefined && <meta httpEquiv="refresh" content={`0; url=${head.refreshTo}`} />}
        {head.robots === undefined ? (
          <meta name="description" content={ctx.t('common.authLayout.lead')} />
        ) : (
          <meta name="robots" content={head.robots} />
        )}
        {assets.fonts.map((href) => (
          <link key={href} rel="preload" as="font" type="font/woff2" crossOrigin="anonymous" href={href} />
        ))}
        <link rel="stylesheet" href={assets.css} />
        {assets.extraCss !== undefined && <link rel="stylesheet" href={assets.extraCss} />}
        {assets.brandCss !== undefined && <link rel="stylesheet" href={assets.brandCss} />}
        {assets.icon !== undefined && <link rel="icon" type="image/svg+xml" href={assets.icon} />}
        {head.scripts?.map((entry) => (
          <Script key={entry} ctx={ctx} entry={entry} />
        ))}
      </head>
      <body>{page}</body>
    </html>
  );
}

/** The content of a page without its document and layout. */
export const renderPart = (page: ReactElement): string => renderToString(page);

/** The whole document as HTML. React escapes all values; there are no inline scripts and no `style=`. */
export function renderDocument(ctx: PageContext, page: ReactElement, head: PageHead): string {
  return `<!doctype html>${renderToString(<Document ctx={ctx} head={head} page={page} />)}`;
}
