import {
  type ButtonGroup,
  type ProviderKind,
  type StandardKind,
  standardProviders,
} from '../../config/standard-providers.ts';
import type { ProviderButtonGroups, ProviderButtonProps } from '../../views/parts/provider-buttons.tsx';
import type { ProviderMarkProps } from '../../views/parts/provider-mark.tsx';
import { HttpError, type Language, type RequestContext, type T } from '../http/index.ts';
import { sha256 } from '../shared/index.ts';
import type { FederationDeps } from './deps.ts';
import { type Provider, type Providers, requireProvider } from './providers.ts';

interface ButtonContext {
  lang: Language;
  t: T;
  userAgent: string | undefined;
}

const isStandard = (kind: ProviderKind): kind is StandardKind => kind !== 'oidc' && kind !== 'saml';

/** The mark of a provider of this kind, which may not be configured any more. */
export const toKindMark = (kind: ProviderKind): ProviderMarkProps => ({
  mark: isStandard(kind) ? standardProviders[kind].mark : undefined,
});

export const toProviderMark = (provider: Provider): ProviderMarkProps => ({
  ...toKindMark(provider.kind),
  logo: logoUrl(provider),
});

const toButtonGroup = ({ kind }: Pick<Provider, 'kind'>): ButtonGroup =>
  isStandard(kind) ? standardProviders[kind].group : 'others';

/** The view of a provider on a button. */
export function toProviderButton(
  provider: Provider,
  { lang, t }: Pick<ButtonContext, 'lang' | 't'>,
  action: string,
): ProviderButtonProps {
  return {
    label: provider.label[lang] ?? t('federation.buttons.continueWith', { provider: provider.name }),
    name: provider.name,
    ...toProviderMark(provider),
    action,
  };
}

/** Tests whether a provider supports this browser. */
export const acceptsBrowser = (provider: Provider, userAgent: string | undefined): boolean =>
  !(provider.refusesEmbeddedBrowsers && isEmbeddedBrowser(userAgent));

/**
 * The buttons of a sign-in or sign-up page (the specification's "Federated buttons"): Amazon and Google on top,
 * Facebook separately, the others in a list. The list is open from the start if there is none outside of it, or if
 * there are at most three providers.
 * @param options.place the page to open in a full browser, if a provider does not support this one
 */
export function toProviderButtons(
  providers: Pick<Providers, 'all'>,
  visitor: ButtonContext,
  { search, clientLabel, signUp = false }: { search: string; clientLabel: string; signUp?: boolean },
): ProviderButtonGroups {
  const { lang, t, userAgent } = visitor;
  const offered = providers.all.filter((provider) => !signUp || provider.signUp);
  const usable = offered.filter((provider) => acceptsBrowser(provider, userAgent));
  const refusing = offered.filter((provider) => !usable.includes(provider)).map(({ name }) => name);
  // Not for every page: the formatter is costly to create.
  const listNames = () => new Intl.ListFormat(lang, { type: 'disjunction' }).format(refusing);
  const of = (group: ButtonGroup) =>
    usable
      .filter((provider) => toButtonGroup(provider) === group)
      .map((provider) => toProviderButton(provider, visitor, `/federation/${provider.id}${search}`));
  const others = of('others');
  return {
    top: of('top'),
    facebook: of('separate'),
    others,
    open: others.length === usable.length || usable.length <= 3,
    instead:
      refusing.length > 0
        ? t('federation.buttons.embedded', { providers: listNames(), place: clientLabel })
        : undefined,
  };
}

/**
 * Browsers inside another app: Google and Facebook refuse them, because the app could read the user's input. They are
 * only recognizable by their User-Agent: Android's WebView has `; wv)`, on iOS one without Safari's name, and apps that
 * name themselves.
 */
const signs = [
  /; wv\)/,
  /^(?=.*\b(?:iPhone|iPad|iPod)\b)(?=.*AppleWebKit)(?!.*Safari\/)/,
  /\bFB(?:AN|AV|_IAB)\b|\bFBIOS\b/,
  /\b(?:Instagram|Barcelona|MicroMessenger|LinkedInApp|Snapchat|Pinterest|BytedanceWebview|musical_ly|TikTok)\b|\bLine\//,
  /\bTwitter for (?:iPhone|iPad|Android)\b/,
];

/** @param userAgent as the browser sent it; without it the browser counts as a normal one */
export function isEmbeddedBrowser(userAgent: string | undefined): boolean {
  const claims = userAgent?.slice(0, 1_000) ?? '';
  return signs.some((sign) => sign.test(claims));
}

const hashes = new WeakMap<Provider, string>();

function logoHash(provider: Provider, logo: string): string {
  const hash = hashes.get(provider) ?? sha256(logo).slice(0, 8);
  hashes.set(provider, hash);
  return hash;
}

/** The address contains a hash of the content, so that browsers may cache it without expiry. */
const logoUrl = (provider: Provider): string | undefined =>
  provider.logo && `/federation/${provider.id}/logo?v=${logoHash(provider, provider.logo)}`;

/**
 * GET /federation/<provider>/logo: a configured image. Its headers prevent it from running or loading anything if it is
 * opened as a document.
 */
export function serveLogo(r: RequestContext, deps: Pick<FederationDeps, 'providers'>): void {
  const provider = requireProvider(r, deps);
  const [, type, base64] = provider.logo?.match(/^data:([^;,]+);base64,(.*)$/s) ?? [];
  if (provider.logo === undefined || type === undefined || base64 === undefined) throw new HttpError('notFound');
  r.res.setHeader('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox");
  if (r.query('v') === logoHash(provider, provider.logo)) {
    r.res.setHeader('Cache-Control', 'public, max-age=31536000, immutable');
  }
  r.res.type(type).send(Buffer.from(base64, 'base64'));
}
