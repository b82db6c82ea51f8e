import type { ProviderButtonGroups, ProviderButtonProps } from '../../views/parts/provider-buttons.tsx';
import type { Language, T } from '../http/index.ts';
import { isEmbeddedBrowser } from './embedded-browsers.ts';
import type { ProviderKind } from './identity.ts';
import { logoUrl } from './logo.ts';
import type { Provider, Providers } from './providers.ts';

interface ButtonContext {
  lang: Language;
  t: T;
  userAgent: string | undefined;
}

const standardKinds: readonly ProviderKind[] = ['amazon', 'google', 'facebook'];

/** The view of a provider on a button. */
export function toProviderButton(
  provider: Provider,
  { lang, t }: Pick<ButtonContext, 'lang' | 't'>,
  action: string,
): ProviderButtonProps {
  return {
    label: provider.label[lang] ?? t('federation.buttons.continueWith', { provider: provider.name }),
    kind: provider.kind,
    logo: logoUrl(provider),
    action,
  };
}

/** Tests whether a provider supports this browser. */
export const acceptsBrowser = (provider: Provider, userAgent: string | undefined): boolean =>
  !(provider.refusesEmbeddedBrowsers && isEmbeddedBrowser(userAgent));

/**
 * The buttons of a sign-in or sign-up page (the specification's "Federated buttons"): Amazon and Google on top,
 * Facebook separately, the others in a list. The list is open from the start if there is none of those three, or if
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
  const names = new Intl.ListFormat(lang, { type: 'disjunction' }).format(refusing);
  const of = (...kinds: readonly ProviderKind[]) =>
    usable
      .filter(({ kind }) => kinds.includes(kind))
      .map((provider) => toProviderButton(provider, visitor, `/federation/${provider.id}${search}`));
  const standard = usable.filter(({ kind }) => standardKinds.includes(kind)).length;
  return {
    top: of('amazon', 'google'),
    facebook: of('facebook'),
    others: of('oidc', 'saml'),
    open: standard === 0 || usable.length <= 3,
    instead:
      refusing.length > 0 ? t('federation.buttons.embedded', { providers: names, place: clientLabel }) : undefined,
  };
}
