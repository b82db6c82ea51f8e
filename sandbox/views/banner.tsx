import type { LayoutBanner, PageContext } from '../../views/page-context.ts';
import { ButtonLink } from '../../views/parts/button.tsx';
import { textsFor } from '../texts.ts';
import type { SandboxPlaces } from './places.ts';

interface BannerSettings {
  places: SandboxPlaces;
  /** The page that explains all of them. */
  overview: string;
  /** The member whom the sign-in page offers. Other origins have none. */
  demoMember?: { givenName: string; email: string; password: string };
}

/** Fills in the demo member on the sign-in page. */
const demoParameter = 'demo';

/** The places that the panel of the sign-in page links. */
const panelPlaces = ['demoApp', 'television', 'mailbox', 'billing', 'providers', 'parts', 'mails'] as const;

/** Only a whole address cannot be misread: "//" begins a host. */
const toUrl = (address: string | undefined) => (address === undefined ? null : URL.parse(`http://localhost${address}`));

/** The sign-in page's panel, and the demo member's input once the link was followed. */
function signInDemo(
  ctx: PageContext,
  { places, demoMember }: BannerSettings,
  requestedAddress: string | undefined,
): LayoutBanner['signIn'] {
  // The page's own address has no request that has ended.
  const page = toUrl(ctx.languageForm?.redirect);
  if (demoMember === undefined || page === null) return undefined;
  const t = textsFor(ctx);
  const filled = toUrl(requestedAddress)?.searchParams.has(demoParameter) ?? false;
  page.searchParams.set(demoParameter, '1');
  const links = panelPlaces.flatMap((name) => {
    const href = places[name];
    return href === undefined ? [] : [{ name, href }];
  });
  return {
    panel: (
      <aside className="demo-panel" aria-labelledby="demo-panel">
        <div className="demo-panel-head">
          <h2 id="demo-panel">{t('sandbox.demoPanel.title', { name: demoMember.givenName })}</h2>
          <ButtonLink kind="quiet" size="small" href={page.pathname + page.search}>
            {t('sandbox.demoPanel.fill')}
          </ButtonLink>
        </div>
        <ul>
          {links.map(({ name, href }) => (
            <li key={name}>
              <a href={href}>{t(`sandbox.places.${name}.name`)}</a>
            </li>
          ))}
        </ul>
      </aside>
    ),
    ...(filled && { input: { username: demoMember.email, password: demoMember.password } }),
  };
}

/** Shows at the top of a page that the sandbox is on, with links to all that it has and to its mailbox. */
export function createBanner(settings: BannerSettings): (ctx: PageContext, requestedAddress?: string) => LayoutBanner {
  const { mailbox } = settings.places;
  return (ctx, requestedAddress) => {
    const t = textsFor(ctx);
    return {
      top: (
        <aside className="ribbon">
          <span>{t('sandbox.ribbon')}</span>
          <a href={settings.overview}>{t('sandbox.overview.link')}</a>
          {mailbox !== undefined && <a href={mailbox}>{t('sandbox.mailbox')}</a>}
        </aside>
      ),
      dialog: mailbox !== undefined && (
        <p className="only-modal small">
          {t('sandbox.ribbon')} <a href={mailbox}>{t('sandbox.mailbox')}</a>
        </p>
      ),
      signIn: signInDemo(ctx, settings, requestedAddress),
    };
  };
}
