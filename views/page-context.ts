import type { ReactNode } from 'react';
import type { Language, T, TextKey } from '../locales/index.ts';
import type { NoticeDuration } from './parts/notice-durations.ts';

/** The id of the form of a page whose input stays when another language is chosen. */
export const pageForm = 'page-form';

/** The input of every page: language, brand, addresses. Pages do not know requests or stores. */
export interface PageContext {
  lang: Language;
  t: T;
  /** The content security policy's nonce of this response. */
  nonce: string;
  brand: { name: string; logoUrl?: string | undefined };
  assets: {
    css: string;
    /** An additional stylesheet, for the banner. */
    extraCss?: string | undefined;
    /** The brand's own colors, if there are any: a second stylesheet. */
    brandCss?: string | undefined;
    fonts: string[];
    icon?: string | undefined;
    /** The web manifest, and the icon of home screens. */
    homeScreen?: { manifest: string; touchIcon: string } | undefined;
    /** Address of `client/entries/<entry>.ts`. */
    script(entry: string): string;
    /** Address of another stylesheet, by its source: `client/checkout.css`. */
    style(source: string): string;
  };
  /** Modules without pages have no address here and no links. */
  links: Partial<Record<LinkName, string | undefined>>;
  /**
   * The target of the footer's language buttons, which post `lang` and `redirect` (the present page's path and query);
   * without it the footer has none.
   */
  languageForm?:
    | {
        action: string;
        redirect: string;
        /** The buttons submit this form of the page to the address, so that its input is there afterwards. */
        withInput?: { form: string; action: string };
      }
    | undefined;
  /** Only the part of the page for a dialog is wanted: layouts render their content alone. */
  isPart?: boolean;
  /** Development's banner in each layout. */
  banner?: LayoutBanner | undefined;
  /** The signed-in user. */
  member?: PageUser | undefined;
  /** The number of their unread notifications. */
  unread?: number | undefined;
  /** The action that has led here: each layout shows it once. */
  arrival?: ArrivalNotice | undefined;
}

export interface ArrivalNotice {
  text: TextKey;
  duration: NoticeDuration;
}

export interface LayoutBanner {
  /** At the top of each page. */
  top: ReactNode;
  /** In the dialog that covers the page and waits for a text message. */
  dialog?: ReactNode;
  /** On the sign-in page: a panel behind the form, and input that was asked for by it. */
  signIn?: { panel: ReactNode; input?: { username: string; password: string } } | undefined;
}

export interface PageUser {
  name: string;
  email: string;
  initials: string;
  pictureUrl?: string | undefined;
}

/** The links of layouts to other pages: Foyer's own, and the marketplace's other apps. */
export type LinkName =
  | 'help'
  /** A mail to the support. */
  | 'support'
  | 'privacy'
  | 'terms'
  | 'imprint'
  | 'accessibility'
  | 'cancelMembership'
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

/** The page's part of its document's head. */
export interface PageHead {
  title: string;
  /** Names of entries in `client/entries` to load as modules. */
  scripts?: string[];
  /** The address of an immediate redirect (meta refresh). */
  refreshTo?: string;
  robots?: 'noindex';
}
