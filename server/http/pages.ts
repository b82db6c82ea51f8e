import type { Request, Response } from 'express';
import type { ReactElement } from 'react';
import type { PageContext } from '../../views/page-context.ts';
import type { Assets } from './assets.ts';
import type { HostCookies } from './cookies.ts';
import { greeted } from './greeting.ts';
import { contentSecurityPolicy, nonceOf, type PolicyExtras } from './headers.ts';
import { languageOf, translator } from './language.ts';
import { rememberedLanguage } from './language-choice.ts';
import { renderPage } from './render.tsx';

export interface PageAnswer {
  title: (ctx: PageContext) => string;
  /** An address that the page goes on to by itself. */
  refreshTo?: string;
  policy?: PolicyExtras;
  /** Where a GET shows this page again, when it answers a form: the language buttons lead there. */
  address?: string;
}

/** Answers pages: knows brand, assets, links and the visitor's language, so that handlers give only what is theirs. */
export interface Pages {
  context(req: Request, res: Response): PageContext;
  send(req: Request, res: Response, status: number, page: (ctx: PageContext) => ReactElement, answer: PageAnswer): void;
}

export interface PageSettings {
  assets: Assets;
  cookies: HostCookies;
  brandName: string;
  brandLogoUrl?: string | undefined;
  /** Address of the stylesheet with the brand's colours. */
  brandCss?: string | undefined;
  /** Where members' pictures are. */
  mediaUrl?: string | undefined;
  /** The app to which forms lead in the end; browsers hold a page's policy against every step of the way there. */
  endAddress?: string | undefined;
  /** Only addresses of rooms that exist. */
  links: PageContext['links'];
  /** Present when the sandbox is on. */
  sandbox?: PageContext['sandbox'];
}

export function createPages(settings: PageSettings): Pages {
  const { cookies, links, sandbox } = settings;
  const assets = { ...settings.assets, brandCss: settings.brandCss };
  const brand = { name: settings.brandName, logoUrl: settings.brandLogoUrl };
  const imageOrigins = [settings.brandLogoUrl, settings.mediaUrl].flatMap((url) =>
    url === undefined ? [] : new URL(url).origin,
  );
  const ends =
    settings.endAddress !== undefined && URL.canParse(settings.endAddress) ? [new URL(settings.endAddress).origin] : [];
  const context = (req: Request, res: Response): PageContext => {
    const greeting = greeted(req);
    // What was chosen in this browser, else what the member chose elsewhere, else what the browser asks for.
    const chosen = rememberedLanguage(cookies, req) ?? greeting?.locale ?? undefined;
    const lang = languageOf(req.get('accept-language'), chosen);
    return {
      lang,
      t: translator(lang),
      nonce: nonceOf(res),
      brand,
      assets,
      links,
      // A page that answers a form, or a client app's request, has no address to come back to.
      ...(req.method === 'GET' &&
        !req.path.startsWith('/oauth2/') && { languageForm: { action: '/language', redirect: req.originalUrl } }),
      sandbox,
      member: greeting?.member,
      unread: greeting?.unread,
    };
  };
  return {
    context,
    send(req, res, status, page, { title, refreshTo, policy, address }) {
      const plain = context(req, res);
      const ctx =
        address === undefined ? plain : { ...plain, languageForm: { action: '/language', redirect: address } };
      res.status(status);
      res.setHeader(
        'Content-Security-Policy',
        contentSecurityPolicy(ctx.nonce, {
          ...policy,
          formAction: [...ends, ...(policy?.formAction ?? [])],
          images: [...imageOrigins, ...(policy?.images ?? [])],
        }),
      );
      res.vary('Accept-Language');
      const head = { title: title(ctx), ...(refreshTo !== undefined && { refreshTo }) };
      res.type('html').send(renderPage(ctx, page(ctx), head));
    },
  };
}
