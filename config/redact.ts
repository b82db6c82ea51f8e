import { standardKinds, standardProviders } from './standard-providers.ts';

/** Shorter ones are also ordinary words, whose replacement would reveal them. */
const minLength = 6;

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const secretNames = [
  ...['STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET', 'SENDGRID_API_KEY', 'TWILIO_AUTH_TOKEN'],
  ...standardKinds.map((kind) => standardProviders[kind].credentials.secret.variable),
];
const addressNames = [
  ...['DATABASE_URL', 'REDIS_URL', 'SMTP_URL'],
  ...['HTTPS_PROXY', 'HTTP_PROXY', 'https_proxy', 'http_proxy'],
];

/** The secrets of a configuration, even an unreadable one: keys, and the passwords in addresses. */
export function listSecrets(environment: NodeJS.ProcessEnv, secretKeys: readonly string[]): string[] {
  const read = (name: string) => environment[name] ?? '';
  const inAddresses = addressNames.map(read).flatMap((address) => [
    // It ends at the last @: an unencoded password may contain others.
    /^[^:]+:\/\/[^:@/]*:(.*)@/.exec(address)?.[1] ?? '',
    ...[...address.matchAll(/[?&]\w*password=([^&]*)/gi)].map(([, value = '']) => value),
  ]);
  const all = [...read('SECRET_KEY').split(','), ...secretKeys, ...secretNames.map(read), ...inAddresses];
  const texts = new Set(all.flatMap((text) => [text, decoded(text)]));
  return [...texts].filter((text) => text.length >= minLength).sort((a, b) => b.length - a.length);
}

/** Texts from elsewhere (errors of libraries and servers), without any secret. */
export function createRedactor(secrets: readonly string[]): (error: unknown) => string {
  return (error) => {
    let text = error instanceof Error ? error.message || error.name : String(error);
    for (const secret of secrets) text = text.replaceAll(secret, '***');
    // Long answers of strangers are cut.
    return text.length > 300 ? `${text.slice(0, 300)}…` : text;
  };
}
