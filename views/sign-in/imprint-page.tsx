import { PlainLayout } from '../layout/plain-layout.tsx';
import type { PageContext } from '../page-context.ts';
import { LegalText, type LegalTextProps } from './legal-text.tsx';

/** The operator of the site (specification, section 2). */
export function ImprintPage({ ctx, document }: { ctx: PageContext; document: LegalTextProps }) {
  return (
    <PlainLayout ctx={ctx} shape="text">
      <LegalText text={document} />
    </PlainLayout>
  );
}
