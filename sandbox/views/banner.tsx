import type { LayoutBanner, PageContext } from '../../views/page-context.ts';
import { textsFor } from '../texts.ts';

export interface BannerLinks {
  mailbox?: string;
  billing?: string;
  providers?: string;
}

/**
 * Shows at the top of a page that the sandbox is on, with links to its mailbox and its stand-ins for Stripe and for
 * providers.
 */
export function createBanner({ mailbox, billing, providers }: BannerLinks): (ctx: PageContext) => LayoutBanner {
  return (ctx) => {
    const t = textsFor(ctx);
    return {
      top: (
        <aside className="ribbon">
          <span>{t('sandbox.ribbon')}</span>
          {mailbox !== undefined && <a href={mailbox}>{t('sandbox.mailbox')}</a>}
          {billing !== undefined && <a href={billing}>{t('sandbox.billing')}</a>}
          {providers !== undefined && <a href={providers}>{t('sandbox.providers')}</a>}
        </aside>
      ),
      dialog: mailbox !== undefined && (
        <p className="only-modal small">
          {t('sandbox.ribbon')} <a href={mailbox}>{t('sandbox.mailbox')}</a>
        </p>
      ),
    };
  };
}
