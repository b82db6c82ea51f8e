/** Renders a page's component to the document that is sent. */
import type { IncomingMessage } from 'node:http';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { ReactElement } from 'react';
import { renderToString } from 'react-dom/server';
import type { PageContext, PageHead } from '../../views/page-context.ts';
import { Script } from '../../views/parts/script.tsx';
import type { HostCookies, HttpExchange } from './cookies.ts';
import { languageCookie } from './language-form.ts';
import { pageAccess } from './page-table.ts';

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
        {assets.homeScreen !== undefined && (
          <>
            <link rel="apple-touch-icon" href={assets.homeScreen.touchIcon} />
            <link rel="manifest" href={assets.homeScreen.manifest} />
          </>
        )}
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

/**
 * Sends a page, compressed if that is safe.
 * @param route of a page that Express has not routed: `/`
 */
export type SendPage = (exchange: HttpExchange, html: string, route?: string) => void;

/** A shorter page is one packet with or without. */
const minBytes = 1_400;

/**
 * On the event loop, because the thread pool is behind the password hashes. Low levels: a page takes about 90 µs, and
 * higher levels save less than a twentieth more (docs/decisions/0004-islands.md).
 */
const encoders = {
  br: (plain: Buffer) =>
    brotliCompressSync(plain, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: 3,
        [constants.BROTLI_PARAM_LGWIN]: 14,
        [constants.BROTLI_PARAM_SIZE_HINT]: plain.length,
      },
    }),
  gzip: (plain: Buffer) => gzipSync(plain, { level: 4 }),
};

/** Smallest first: browsers list gzip before brotli. */
const encodings = ['br', 'gzip'] as const;

/** Tests the header itself: a cookie that a parser drops is a cookie, too. */
const isLanguageAlone = (header: string | undefined, name: string): boolean =>
  header === undefined || (header.startsWith(`${name}=`) && !header.includes(';'));

/** Tests whether a request carries nothing that identifies a visitor: no cookie but the language's, no credentials. */
export const isUnidentified = ({ headers }: IncomingMessage, cookies: HostCookies): boolean =>
  headers.authorization === undefined && isLanguageAlone(headers.cookie, cookies.name(languageCookie));

/**
 * Tests whether the answer can hold nothing that its reader could not request alone (BREACH needs a secret that is the
 * same in many answers, beside text that the attacker chooses): the page is for every visitor, the request carries no
 * cookie but the language's and no Authorization header, and the answer sets no cookie. Nonce and passkey challenge are
 * new in every answer.
 */
function isAnonymous({ req, res }: HttpExchange, route: unknown, cookies: HostCookies): boolean {
  return (
    (req.method === 'GET' || req.method === 'HEAD') &&
    typeof route === 'string' &&
    pageAccess[`GET ${route}`] === 'visitor' &&
    isUnidentified(req, cookies) &&
    !res.hasHeader('Set-Cookie')
  );
}

export function createPageSender(cookies: HostCookies): SendPage {
  return (exchange, html, route) => {
    const { req, res } = exchange;
    res.type('html').vary('Accept-Encoding');
    const plain = Buffer.from(html);
    const mayCompress = plain.length >= minBytes && isAnonymous(exchange, route ?? req.route?.path, cookies);
    const encoding = mayCompress ? encodings.find((one) => req.acceptsEncodings(one)) : undefined;
    if (encoding === undefined) res.send(plain);
    else res.set('Content-Encoding', encoding).send(encoders[encoding](plain));
  };
}
