import { PlainLayout } from '../layout/plain-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { SupportLink } from '../parts/page-notice.tsx';
import { LegalText, type LegalTextProps } from './legal-text.tsx';

/** The statement on the accessibility of the pages, with the address for reports. */
export function AccessibilityPage({ ctx, document }: { ctx: PageContext; document: LegalTextProps }) {
  const { links, t } = ctx;
  return (
    <PlainLayout ctx={ctx} shape="text">
      <LegalText text={document} />
      <p>
        {t('legal.reportTo')}
        {links.support === undefined && links.help === undefined ? (
          <>
            {' '}
            <a href={links.imprint}>{t('legal.imprint')}</a>
          </>
        ) : (
          <SupportLink ctx={ctx} />
        )}
      </p>
    </PlainLayout>
  );
}
