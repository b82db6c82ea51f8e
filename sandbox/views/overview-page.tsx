import { PlainLayout } from '../../views/layout/plain-layout.tsx';
import type { PageContext } from '../../views/page-context.ts';
import { ButtonLink } from '../../views/parts/button.tsx';
import { Card } from '../../views/parts/card.tsx';
import { textsFor } from '../texts.ts';
import { placeNames, type SandboxPlaces } from './places.ts';

interface OverviewPageProps {
  ctx: PageContext;
  places: SandboxPlaces;
  demoMember: { email: string; password: string };
}

/** Everything that the sandbox has, with a sentence on each. */
export function OverviewPage({ ctx, places, demoMember }: OverviewPageProps) {
  const t = textsFor(ctx);
  const brand = ctx.brand.name;
  return (
    <PlainLayout ctx={ctx} shape="wide">
      <div className="page-head">
        <h1>{t('sandbox.overview.title')}</h1>
        <p className="lead muted">{t('sandbox.overview.lead', { brand })}</p>
      </div>
      <Card title={t('sandbox.overview.memberTitle')}>
        <dl className="facts">
          <div>
            <dt>{t('signIn.reauthenticate.email')}</dt>
            <dd>{demoMember.email}</dd>
          </div>
          <div>
            <dt>{t('signIn.password')}</dt>
            <dd>
              <code>{demoMember.password}</code>
            </dd>
          </div>
        </dl>
        {ctx.member === undefined && ctx.links.signIn !== undefined && (
          <div className="actions">
            <ButtonLink href={`${ctx.links.signIn}?demo=1`}>{t('sandbox.overview.signIn')}</ButtonLink>
          </div>
        )}
      </Card>
      <ul className="tiles overview">
        {placeNames.map((name) => {
          const href = places[name];
          return (
            href !== undefined && (
              <li className="tile" key={name}>
                <h2>
                  <a href={href}>{t(`sandbox.places.${name}.name`)}</a>
                </h2>
                <p className="muted small">{t(`sandbox.places.${name}.text`, { brand })}</p>
              </li>
            )
          );
        })}
      </ul>
    </PlainLayout>
  );
}
