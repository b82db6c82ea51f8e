import type { Language, T } from '../locales/index.ts';

/** What every page is given: language, brand, addresses. Pages know nothing of requests or stores. */
export interface PageContext {
  lang: Language;
  t: T;
  /** The content security policy's nonce of this response. */
  nonce: string;
  brand: { name: string; logoUrl?: string | undefined };
  assets: {
    css: string;
    /** What the sandbox adds to it. */
    sandboxCss?: string | undefined;
    /** The brand's own colours, where it has any: a stylesheet behind the first. */
    brandCss?: string | undefined;
    fonts: string[];
    icon?: string | undefined;
    /** Address of `client/entries/<entry>.ts`. */
    script(entry: string): string;
  };
  /** Rooms that do not exist yet have no address here and are not linked. */
  links: Partial<Record<LinkName, string | undefined>>;
  /** Where the footer's language buttons post `lang` and `redirect` (the present page's path and query); without it the footer names no languages. */
  languageForm?: { action: string; redirect: string };
  /** Present when the sandbox is on: pages say so at the top. */
  sandbox?: { mailbox?: string; billing?: string; providers?: string } | undefined;
  /** The member who is signed in. */
  member?: PageUser | undefined;
  /** How many notifications they have not read. */
  unread?: number | undefined;
}

export interface PageUser {
  name: string;
  email: string;
  initials: string;
  pictureUrl?: string | undefined;
}

/** Everything outside a page that its layout may link to: rooms of ours, and the marketplace's other apps. */
export type LinkName =
  | 'help'
  | 'privacy'
  | 'terms'
  | 'imprint'
  | 'signIn'
  | 'signUp'
  | 'forgotPassword'
  | 'security'
  | 'notifications'
  | 'search'
  | 'dashboard'
  | 'showcasePages'
  | 'shortlist'
  | 'profile'
  | 'wallet'
  | 'teams'
  | 'membership'
  | 'paymentMethods';

/** What a page asks of its document's head. */
export interface PageHead {
  title: string;
  /** Names of entries in `client/entries` to load as modules. */
  scripts?: string[];
  /** An address to go on to at once (meta refresh). */
  refreshTo?: string;
  robots?: 'noindex';
}
