import type { ReactElement } from 'react';
import { type Language, translator } from '../../../server/http/language.ts';
import { loadLegal, shippedLegalDir } from '../../../server/sign-in/index.ts';
import type { LinkName, PageContext, PageHead } from '../../../views/page-context.ts';

export const legal = loadLegal(shippedLegalDir, { brand: 'Foyer', publicUrl: 'https://login.example.com' });

export const member = { name: 'Vera Fyfe', email: 'vera@example.com', initials: 'VF' };

const apps = [
  'search',
  'dashboard',
  'showcasePages',
  'shortlist',
  'profile',
  'wallet',
  'teams',
  'membership',
  'paymentMethods',
] as const satisfies readonly LinkName[];

/** A context with everything that pages can show. */
export function contextFor(lang: Language, over: Partial<PageContext> = {}): PageContext {
  return {
    lang,
    t: translator(lang),
    nonce: 'bm9uY2U',
    brand: { name: 'Foyer' },
    assets: {
      css: '/assets/foyer.css',
      fonts: ['/assets/figtree.woff2'],
      icon: '/assets/icon.svg',
      script: (entry) => `/assets/${entry}.js`,
      style: (source) => `/assets/${source}`,
    },
    links: {
      ...Object.fromEntries(apps.map((name) => [name, `https://apps.example/${name}`])),
      signIn: '/',
      security: '/settings',
      help: 'https://help.example/',
      privacy: 'https://example.com/privacy',
      terms: '/tos',
      signUp: '/signup',
      forgotPassword: '/forgot-password',
    },
    languageForm: { action: '/language', redirect: '/?client_id=web' },
    ...over,
  };
}

export interface Sample {
  page: ReactElement;
  head?: Partial<PageHead>;
  /** It shows documents of ours in frames. */
  frames?: boolean;
}
