import type { Language, T } from '../locales/index.ts';

/** What every page is given: language, brand, addresses. Pages know nothing of requests or stores. */
export interface PageContext {
  lang: Language;
  t: T;
  /** The content security policy's nonce of this response. */
  nonce: string;
  brand: { name: string; logoUrl?: string };
  assets: {
    css: string;
    fonts: string[];
    icon?: string | undefined;
    /** Address of `client/entries/<entry>.ts`. */
    script(entry: string): string;
  };
  /** Rooms that do not exist yet have no address here and are not linked. */
  links: { help?: string; privacy?: string; terms?: string; signUp?: string; forgotPassword?: string };
  /** Where the footer's language buttons post `lang` and `redirect` (the present page's path and query); without it the footer names no languages. */
  languageForm?: { action: string; redirect: string };
  /** Present when the sandbox is on: pages say so at the top. */
  sandbox?: { mailbox?: string } | undefined;
  member?: { name: string; email: string; initials: string };
}

/** What a page asks of its document's head. */
export interface PageHead {
  title: string;
  /** Names of entries in `client/entries` to load as modules. */
  scripts?: string[];
  /** An address to go on to at once (meta refresh). */
  refreshTo?: string;
  robots?: 'noindex';
}
