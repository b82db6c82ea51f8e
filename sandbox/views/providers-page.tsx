import { PlainLayout } from '../../views/layout/plain-layout.tsx';
import type { PageContext } from '../../views/page-context.ts';
import { Breadcrumb } from '../../views/parts/breadcrumb.tsx';
import { ButtonLink } from '../../views/parts/button.tsx';
import { Card } from '../../views/parts/card.tsx';
import { ProviderMark, type ProviderMarkProps } from '../../views/parts/provider-mark.tsx';
import { textsFor } from '../texts.ts';
import { overviewAddress } from './places.ts';

interface ProvidersPageProps {
  ctx: PageContext;
  /** Those with a button on the sign-in page. */
  standard: readonly (ProviderMarkProps & { name: string })[];
  companies: readonly { kind: 'oidc' | 'saml'; name: string; domain: string; href: string }[];
}

/** The stand-ins for identity providers, and how each is reached. */
export function ProvidersPage({ ctx, standard, companies }: ProvidersPageProps) {
  const t = textsFor(ctx);
  const title = t('sandbox.places.providers.name');
  const path = [{ href: overviewAddress, label: t('sandbox.overview.title') }, { label: title }];
  return (
    <PlainLayout ctx={ctx} shape="wide">
      <Breadcrumb label={title} path={path} />
      <div className="page-head">
        <h1>{title}</h1>
        <p className="lead muted">{t('sandbox.providersPage.lead')}</p>
      </div>
      <Card
        flush
        title={t('sandbox.providersPage.standard')}
        note={t('sandbox.providersPage.standardText')}
        actions={
          ctx.links.signIn !== undefined && <ButtonLink href={ctx.links.signIn}>{t('signIn.submit')}</ButtonLink>
        }
      >
        <ul className="items">
          {standard.map(({ name, mark, logo }) => (
            <li key={name}>
              <ProviderMark mark={mark} logo={logo} />
              <p className="item-words item-label">{name}</p>
            </li>
          ))}
        </ul>
      </Card>
      <Card flush title={t('sandbox.providersPage.companies')} note={t('sandbox.providersPage.companiesText')}>
        <ul className="items">
          {companies.map(({ kind, name, domain, href }) => (
            <li key={kind}>
              <div className="item-words">
                <p className="item-label">{name}</p>
                <p className="item-value">{t(`sandbox.providersPage.${kind}`, { domain })}</p>
              </div>
              <ButtonLink kind="quiet" size="small" href={href}>
                {t('sandbox.providersPage.open')}
                <span className="visually-hidden"> {name}</span>
              </ButtonLink>
            </li>
          ))}
        </ul>
      </Card>
    </PlainLayout>
  );
}
