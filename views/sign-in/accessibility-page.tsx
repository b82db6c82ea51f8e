import { PlainLayout } from '../layout/plain-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { ContactLink } from '../parts/page-notice.tsx';
import { LegalText, type LegalTextProps } from './legal-text.tsx';

/** The statement on the accessibility of the pages, with the address for reports. */
export function AccessibilityPage({ ctx, document }: { ctx: PageContext; document: LegalTextProps }) {
  const { t } = ctx;
  return (
    <PlainLayout ctx={ctx} shape="text">
      <LegalText text={document} />
      <p>
        {t('legal.reportTo')}
        <ContactLink ctx={ctx} />
      </p>
    </PlainLayout>
  );
}
