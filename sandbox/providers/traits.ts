import {
  byStandardKind,
  type ProviderKind,
  type StandardKind,
  standardProviders,
} from '../../config/standard-providers.ts';

/** The look of a stand-in's pages, and the form of its subjects. */
export interface StandInTraits {
  name: string;
  /** Its color on a light and on a dark page. */
  colors: { light: string; dark: string };
  /** The effect of an unconfirmed address; undefined: none. */
  unconfirmed: string | undefined;
  /** The subject in its own format. */
  toSubject(hash: Buffer): string;
}

/** @param number of digits */
const toDigits = (hash: Buffer, number: number) =>
  (BigInt(`0x${hash.toString('hex')}`) % 10n ** BigInt(number - 1)).toString();

const ownTraits: Partial<Record<StandardKind, Omit<StandInTraits, 'name'>>> = {
  google: {
    colors: { light: '#1a66d2', dark: '#8ab8ff' },
    unconfirmed: 'email not confirmed',
    toSubject: (hash) => `1${toDigits(hash, 21).padStart(20, '0')}`,
  },
  facebook: {
    colors: { light: '#0a5fd0', dark: '#83b5ff' },
    unconfirmed: 'email not confirmed, so not given',
    toSubject: (hash) => `1${toDigits(hash, 17).padStart(16, '0')}`,
  },
  amazon: {
    colors: { light: '#8a5a00', dark: '#f0b64a' },
    unconfirmed: undefined,
    toSubject: (hash) => `amzn1.account.${hash.toString('hex').toUpperCase().slice(0, 28)}`,
  },
};

/** Of a standard provider without traits of its own. */
const plainTraits: Omit<StandInTraits, 'name'> = {
  colors: { light: '#3c4a6b', dark: '#a9b8dd' },
  unconfirmed: 'email not confirmed',
  toSubject: (hash) => hash.toString('hex').slice(0, 24),
};

export const standInTraits: Record<ProviderKind, StandInTraits> = {
  ...byStandardKind((kind) => ({ name: standardProviders[kind].name, ...(ownTraits[kind] ?? plainTraits) })),
  oidc: {
    name: 'Acme',
    colors: { light: '#0b7061', dark: '#63d2bf' },
    unconfirmed: 'email not confirmed',
    toSubject: (hash) => hash.toString('hex').slice(0, 32),
  },
  saml: {
    name: 'Acme Corporate',
    colors: { light: '#7b3f96', dark: '#d8a6ec' },
    unconfirmed: undefined,
    toSubject: (hash) => `_${hash.toString('hex').slice(0, 40)}`,
  },
};
