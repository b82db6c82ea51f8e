import type { T } from '../../locales/index.ts';

const known = ['openid', 'profile', 'email', 'phone', 'address', 'membership', 'offline_access', 'account'] as const;

export interface ScopeText {
  name: string;
  label: string;
  detail: string;
}

/** Names that mean the same, as client apps that come from Cognito write them. */
const aliases: Record<string, string> = { 'aws.cognito.signin.user.admin': 'account' };

/** Says in words what each scope lets a client app do, in the order in which members care; unknown ones by their name. */
export function scopeTexts(t: T, asked: readonly string[]): ScopeText[] {
  const scopes = [...new Set(asked.map((name) => aliases[name] ?? name))];
  const named = known
    .filter((name) => scopes.includes(name))
    .map((name) => ({ name, label: t(`oauth.scopes.${name}.label`), detail: t(`oauth.scopes.${name}.detail`) }));
  const others = scopes
    .filter((name) => !(known as readonly string[]).includes(name))
    .map((name) => ({ name, label: t('oauth.scopes.other.label', { name }), detail: t('oauth.scopes.other.detail') }));
  return [...named, ...others];
}
