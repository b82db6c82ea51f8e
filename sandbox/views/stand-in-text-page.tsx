import { PlainLayout } from '../../views/layout/plain-layout.tsx';
import type { PageContext } from '../../views/page-context.ts';
import { textsFor } from '../texts.ts';
import { overviewAddress } from './places.ts';

/** Replaces the operator's help center or privacy policy if none is configured. */
export function StandInTextPage({ ctx, about }: { ctx: PageContext; about: 'help' | 'privacy' }) {
  const t = textsFor(ctx);
  return (
    <PlainLayout ctx={ctx} shape="narrow">
      <div className="page-head">
        <h1>{t(`sandbox.places.${about}.name`)}</h1>
        <p className="lead muted">{t(`sandbox.standInText.${about}`)}</p>
      </div>
      <p>
        <a href={overviewAddress}>{t('sandbox.overview.link')}</a>
      </p>
    </PlainLayout>
  );
}
