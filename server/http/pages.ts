import type { Request, Response } from 'express';
import { createElement, type ReactElement } from 'react';
import { RedirectPage, type RedirectTarget, redirectTitle } from '../../views/layout/redirect-page.tsx';
import type { LayoutBanner, PageContext, PageUser } from '../../views/page-context.ts';
import { findArrival } from './arrival-notices.ts';
import type { Assets } from './assets.ts';
import type { HttpExchange } from './cookies.ts';
import type { OpenInput, WithKeptInput } from './forms.ts';
import { contentSecurityPolicy, getNonce, type PolicyExtras, permissionsPolicy } from './headers.ts';
import { type Language, translator } from './language.ts';
import { createPlaceholder, createTemplate } from './page-template.ts';
import type { FormRecords, SingleUseNotices } from './post-redirect-get.ts';
import { renderDocument, renderPart, type SendPage } from './render.tsx';
import { asksAhead, asksForPart } from './request-traits.ts';

/** The user whom the page header shows, and their preferred language, if set. */
interface PageUserState {
  member: PageUser;
  locale: string | null;
  /** Number of unread notifications. */
  unread?: number;
}

const greetings = new WeakMap<Request, PageUserState>();

/** Sets the user of this request; every page that answers the request shows them in its header. */
export function setPageUser(req: Request, greeting: PageUserState): void {
  greetings.set(req, greeting);
}

export function getPageUser(req: Request): PageUserState | undefined {
  return greetings.get(req);
}

export interface PageOptions {
  title: (ctx: PageContext) => string;
  /** The HTTP status. Default: 200. */
  status?: number | undefined;
  /** The page redirects to this address by itself. */
  refreshTo?: string;
  policy?: PolicyExtras;
  /** The address at which a GET shows this page, when it answers a form: the language buttons lead there. */
  address?: string;
  /** The form of the page whose input stays when another language is chosen: its id, and its fields without secrets. */
  keeps?: { form: string; names: readonly string[] };
}

/** Where the answer leads, in place of a redirect: a script cannot read the address of a redirect. */
const locationHeader = 'Foyer-Location';

/** The element that a dialog shows, as `views/parts/dialog-card.tsx` marks it, or the notice of an error. */
const parts = /\sdata-lift=|\sdata-problem=/;

/** Answers with the part. A page without one is answered without content, so that the script goes to its address. */
function sendPart({ res }: HttpExchange, html: string, beforeSending: () => void): void {
  if (!parts.test(html)) {
    res.status(204).end();
    return;
  }
  beforeSending();
  res.type('html').send(html);
}

/** 303 See Other; a script that asked for a part gets the address to decide by itself. */
export function seeOther({ req, res }: HttpExchange, address: string): void {
  if (!asksForPart(req)) {
    res.redirect(303, address);
    return;
  }
  // Express encodes the address.
  const encoded = res.location(address).get('Location');
  res.removeHeader('Location');
  res.status(204).set(locationHeader, encoded).end();
}

/** Answers with pages. It knows brand, assets and links, so that handlers pass only their own content. */
export interface Pages {
  context(req: Request, res: Response): PageContext;
  send(exchange: HttpExchange, page: (ctx: PageContext) => ReactElement, answer: PageOptions): void;
  /**
   * Renders a page without scripts, user and language choice: the same document for every visitor.
   * @param lang default: English
   */
  renderPublic(
    page: (ctx: PageContext) => ReactElement,
    head: { title: string },
    lang?: Language,
  ): { html: string; policy: string };
  /**
   * Renders a page once for all visitors who send no cookie and no credentials. The answers to them differ in the nonce
   * and in the values of the page's own placeholders.
   * @param view.address path and query of the page
   */
  prepare(page: (ctx: PageContext) => ReactElement, view: PreparedView): PreparedPage;
  /** The layouts have no banner, which depends on the requested address. */
  canPrepare: boolean;
  /**
   * Post/Redirect/Get for a page with a form. Answers a POST with a redirect to the page's address. The following GET
   * gets the view that the POST wanted to show, including its status, so that programs which follow the redirect see
   * it.
   * @param view JSON values; never passwords or keys
   * @returns the view to render; undefined if the redirect was sent
   */
  viewAt<View extends object>(exchange: HttpExchange, address: string, view: View): View | undefined;
  /**
   * Tests whether this GET follows a refused form of the page. The page then shows the form, even if the visitor could
   * continue without it.
   */
  isRefused(req: Request, address: string): boolean;
  /** The input of a page's form, which the next visit of the page shows again. */
  keepInput(exchange: HttpExchange, address: string, input: OpenInput): void;
  /** The notice about a completed action, for the next page that takes it. */
  notices: SingleUseNotices | undefined;
}

interface PreparedView {
  lang: Language;
  address: string;
  title: (ctx: PageContext) => string;
  placeholders: readonly string[];
  keeps?: PageOptions['keeps'];
}

/** Sends the page. @param values of its placeholders */
export type PreparedPage = (exchange: HttpExchange, values: ReadonlyMap<string, string>) => void;

export interface PageSettings {
  assets: Assets;
  brandName: string;
  brandLogoUrl?: string | undefined;
  /** Address of the stylesheet with the brand's colors. */
  brandCss?: string | undefined;
  /** Base address of the users' pictures. */
  mediaUrl?: string | undefined;
  /** The app to which forms lead in the end. Browsers apply the policy of a page to every redirect on the way there. */
  endAddress?: string | undefined;
  /** Only addresses of modules that exist. */
  links: PageContext['links'];
  /** The banner at the top of each page, which has its own address and the requested one. */
  banner?: ((ctx: PageContext, requestedAddress?: string) => LayoutBanner) | undefined;
  /** Address of an additional stylesheet. */
  extraCss?: string | undefined;
  /** Stores what a form shows after its redirect. Without it a POST is answered with the page itself. */
  formRecords?: FormRecords;
  notices?: SingleUseNotices;
  /** Sends a whole page. Without it pages are never compressed. */
  sendPage?: SendPage;
}

/** Post/Redirect/Get for the pages with a form. */
function createViewAt(formRecords: FormRecords | undefined): Pages['viewAt'] {
  return ({ req, res }, address, view) => {
    // HEAD shows nothing, so it must not use the record up.
    if (req.method === 'GET') return asksAhead(req) ? view : { ...view, ...formRecords?.take({ req, res }, address) };
    // A script reads the answer itself.
    const isReadByScript =
      req.accepts(['html', 'json']) === 'json' || (asksForPart(req) && address === req.originalUrl);
    if (req.method !== 'POST' || !formRecords || isReadByScript) return view;
    formRecords.keep({ req, res }, address, view);
    seeOther({ req, res }, address);
    return undefined;
  };
}

/** The headers and the body that every whole page has. */
function createAnswers(settings: PageSettings, imageOrigins: readonly string[]) {
  const { endAddress } = settings;
  const ends = endAddress !== undefined && URL.canParse(endAddress) ? [new URL(endAddress).origin] : [];
  return {
    setHead(res: Response, nonce: string, policy?: PolicyExtras) {
      res.setHeader(
        'Content-Security-Policy',
        contentSecurityPolicy(nonce, {
          ...policy,
          formAction: [...ends, ...(policy?.formAction ?? [])],
          images: [...imageOrigins, ...(policy?.images ?? [])],
        }),
      );
      if (policy?.payments) res.setHeader('Permissions-Policy', permissionsPolicy(policy));
      res.vary('Accept-Language');
    },
    /** @param route of a page that Express has not routed */
    sendWhole(exchange: HttpExchange, html: string, route?: string) {
      if (settings.sendPage) settings.sendPage(exchange, html, route);
      else exchange.res.type('html').send(html);
    },
  };
}

/** The language buttons of a page: they submit its form, so that its input stays. */
const toLanguageForm = (redirect: string, keeps: PageOptions['keeps']): PageContext['languageForm'] => ({
  action: '/language',
  redirect,
  ...(keeps && {
    withInput: {
      form: keeps.form,
      action: `/language?${new URLSearchParams({ redirect, keep: keeps.names.join(',') })}`,
    },
  }),
});

export function createPages(settings: PageSettings): Pages {
  const { links } = settings;
  const assets = { ...settings.assets, brandCss: settings.brandCss, extraCss: settings.extraCss };
  const brand = { name: settings.brandName, logoUrl: settings.brandLogoUrl };
  const imageOrigins = [settings.brandLogoUrl, settings.mediaUrl].flatMap((url) =>
    url === undefined ? [] : new URL(url).origin,
  );
  const withBanner = (ctx: PageContext, requestedAddress?: string): PageContext =>
    settings.banner ? { ...ctx, banner: settings.banner(ctx, requestedAddress) } : ctx;
  const base = (lang: Language, nonce: string) => ({ lang, t: translator(lang), nonce, brand, assets, links });
  const context = (req: Request, res: Response): PageContext => {
    const greeting = getPageUser(req);
    const ctx = {
      ...base(req.language, getNonce(res)),
      // A page that answers a form, or a client app's request, has no address of its own.
      ...(req.method === 'GET' &&
        !req.path.startsWith('/oauth2/') && { languageForm: { action: '/language', redirect: req.originalUrl } }),
      member: greeting?.member,
      unread: greeting?.unread,
    };
    return withBanner(ctx, req.originalUrl);
  };
  const { setHead, sendWhole } = createAnswers(settings, imageOrigins);
  return {
    context,
    canPrepare: settings.banner === undefined,
    prepare(page, { lang, address, title, keeps, placeholders }) {
      const nonceMark = createPlaceholder();
      const ctx = { ...base(lang, nonceMark), languageForm: toLanguageForm(address, keeps) };
      const html = renderDocument(ctx, page(ctx), { title: title(ctx) });
      const template = createTemplate(html, [nonceMark, ...placeholders]);
      return (exchange, values) => {
        const nonce = getNonce(exchange.res);
        setHead(exchange.res, nonce);
        sendWhole(exchange, template(new Map([...values, [nonceMark, nonce]])), address);
      };
    },
    renderPublic(page, head, lang = 'en') {
      const ctx = withBanner(base(lang, ''));
      return {
        html: renderDocument(ctx, page(ctx), head),
        policy: contentSecurityPolicy(undefined, { images: imageOrigins }),
      };
    },
    viewAt: createViewAt(settings.formRecords),
    keepInput: (exchange, address, keptInput) =>
      settings.formRecords?.keep(exchange, address, { keptInput } satisfies WithKeptInput),
    notices: settings.notices,
    isRefused: (req, address) => req.method === 'GET' && (settings.formRecords?.waits(req, address) ?? false),
    send({ req, res }, page, { title, status = 200, refreshTo, policy, address, keeps }) {
      const clearNotice = () => settings.notices?.clearShown({ req, res });
      const arrival = status < 400 && !asksForPart(req) ? settings.notices?.take({ req, res }, findArrival) : undefined;
      const plain = { ...context(req, res), arrival };
      const ctx =
        address === undefined
          ? plain
          : withBanner({ ...plain, languageForm: toLanguageForm(address, keeps) }, req.originalUrl);
      res.status(status);
      setHead(res, ctx.nonce, policy);
      if (asksForPart(req)) {
        sendPart({ req, res }, renderPart(page({ ...ctx, isPart: true })), clearNotice);
        return;
      }
      // Only pages of a form have an address: pages of errors say it in their own title.
      const isRefused = status >= 400 && address !== undefined;
      const words = isRefused ? ctx.t('common.errorTitle', { title: title(ctx) }) : title(ctx);
      const head = { title: words, ...(refreshTo !== undefined && { refreshTo }) };
      const html = renderDocument(ctx, page(ctx), head);
      clearNotice();
      sendWhole({ req, res }, html);
    },
  };
}

/**
 * Answers a form with a small page that redirects by itself. Browsers apply the form's own policy (`form-action
 * 'self'`) to the whole chain of redirects, so a redirect could never reach a client app or a provider.
 * @param target.to the name of the target: a client app's or a provider's
 */
export function renderRedirectPage(
  pages: Pages,
  exchange: HttpExchange,
  { href, to }: { href: string; to: string | { providerName: string } | undefined },
): void {
  if (asksForPart(exchange.req)) {
    seeOther(exchange, href);
    return;
  }
  const owner: RedirectTarget = typeof to === 'string' ? { clientName: to } : (to ?? {});
  pages.send(exchange, (ctx) => createElement(RedirectPage, { ctx, href, to: owner }), {
    title: (ctx) => redirectTitle(ctx, owner),
    refreshTo: href,
  });
}
