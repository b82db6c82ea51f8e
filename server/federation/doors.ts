import type { ProviderDoor, ProviderDoors } from '../../views/parts/provider-doors.tsx';
import type { Language, T } from '../http/index.ts';
import { isEmbeddedBrowser } from './embedded-browsers.ts';
import type { ProviderKind } from './identity.ts';
import { logoAddress } from './logo.ts';
import type { Provider, Providers } from './providers.ts';

interface Visitor {
  lang: Language;
  t: T;
  userAgent: string | undefined;
}

const standardKinds: readonly ProviderKind[] = ['amazon', 'google', 'facebook'];

/** How a button shows a provider. */
export function doorOf(provider: Provider, { lang, t }: Pick<Visitor, 'lang' | 't'>, action: string): ProviderDoor {
  return {
    label: provider.label[lang] ?? t('federation.doors.continueWith', { provider: provider.name }),
    kind: provider.kind,
    logo: logoAddress(provider),
    action,
  };
}

/** Whether a provider takes this browser. */
export const takes = (provider: Provider, userAgent: string | undefined): boolean =>
  !(provider.refusesEmbeddedBrowsers && isEmbeddedBrowser(userAgent));

/**
 * The buttons of a page on which somebody signs in or up (the specification's "Federated buttons"): Amazon and Google on top,
 * Facebook by itself, the others in a list. The list is open from the start where there are none of those three, or where all of them
 * together are at most three.
 * @param options.place what a browser of its own is to open instead, where a provider does not take this one
 */
export function doorsOf(
  providers: Pick<Providers, 'all'>,
  visitor: Visitor,
  { search, place, signUp = false }: { search: string; place: string; signUp?: boolean },
): ProviderDoors {
  const { lang, t, userAgent } = visitor;
  const offered = providers.all.filter((provider) => !signUp || provider.signUp);
  const usable = offered.filter((provider) => takes(provider, userAgent));
  const refusing = offered.filter((provider) => !usable.includes(provider)).map(({ name }) => name);
  const names = new Intl.ListFormat(lang, { type: 'disjunction' }).format(refusing);
  const of = (...kinds: readonly ProviderKind[]) =>
    usable
      .filter(({ kind }) => kinds.includes(kind))
      .map((provider) => doorOf(provider, visitor, `/federation/${provider.id}${search}`));
  const standard = usable.filter(({ kind }) => standardKinds.includes(kind)).length;
  return {
    top: of('amazon', 'google'),
    facebook: of('facebook'),
    others: of('oidc', 'saml'),
    open: standard === 0 || usable.length <= 3,
    instead: refusing.length > 0 ? t('federation.doors.embedded', { providers: names, place }) : undefined,
  };
}
