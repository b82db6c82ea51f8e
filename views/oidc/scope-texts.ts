import type { T } from '../../locales/index.ts';

/** Each scope with the name of its text. */
const known = {
  openid: 'openid',
  profile: 'profile',
  email: 'email',
  phone: 'phone',
  address: 'address',
  membership: 'membership',
  offline_access: 'offline_access',
  account: 'account',
  'account:security': 'accountSecurity',
  'account:payments': 'accountPayments',
} as const;

/** With these an app changes things, or reads them while the user is away. */
const powerful: readonly string[] = [
  'offline_access',
  'account',
  'account:security',
  'account:payments',
] satisfies (keyof typeof known)[];

export interface ScopeText {
  name: string;
  /** Its access is marked. */
  isPowerful: boolean;
  label: string;
  detail: string;
}

/** Synonyms, as in client apps that come from Cognito. */
const aliases: Record<string, string> = { 'aws.cognito.signin.user.admin': 'account' };

/** The access of each scope in words, the most important first; unknown ones by their name. */
export function scopeTexts(t: T, requested: readonly string[]): ScopeText[] {
  const scopes = [...new Set(requested.map((name) => aliases[name] ?? name))];
  const named = Object.entries(known)
    .filter(([name]) => scopes.includes(name))
    .map(([name, text]) => ({
      name,
      isPowerful: powerful.includes(name),
      label: t(`oauth.scopes.${text}.label`),
      detail: t(`oauth.scopes.${text}.detail`),
    }));
  const others = scopes
    .filter((name) => !Object.hasOwn(known, name))
    .map((name) => ({
      name,
      isPowerful: false,
      label: t('oauth.scopes.other.label', { name }),
      detail: t('oauth.scopes.other.detail'),
    }));
  return [...named, ...others];
}
