/** Shorter ones are ordinary words too, which would show by their absence. */
const minLength = 6;

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The secrets of a configuration, also of one that cannot be read: keys, and the passwords within addresses. */
export function listSecrets(environment: NodeJS.ProcessEnv, secretKeys: readonly string[]): string[] {
  const { SECRET_KEY = '', DATABASE_URL = '', REDIS_URL = '' } = environment;
  const { STRIPE_SECRET_KEY = '', STRIPE_WEBHOOK_SECRET = '' } = environment;
  const { SENDGRID_API_KEY = '', TWILIO_AUTH_TOKEN = '', SMTP_URL = '' } = environment;
  const { GOOGLE_CLIENT_SECRET = '', FACEBOOK_APP_SECRET = '', AMAZON_CLIENT_SECRET = '' } = environment;
  const inAddresses = [DATABASE_URL, REDIS_URL, SMTP_URL].flatMap((address) => [
    // The last @ ends it: a password that is not encoded may hold others.
    /^[^:]+:\/\/[^:@/]*:(.*)@/.exec(address)?.[1],
    ...[...address.matchAll(/[?&]\w*password=([^&]*)/gi)].map(([, value]) => value),
  ]);
  const ofOthers = [
    ...[STRIPE_SECRET_KEY, STRIPE_WEBHOOK_SECRET, SENDGRID_API_KEY, TWILIO_AUTH_TOKEN],
    ...[GOOGLE_CLIENT_SECRET, FACEBOOK_APP_SECRET, AMAZON_CLIENT_SECRET],
  ];
  const all = [...SECRET_KEY.split(','), ...secretKeys, ...ofOthers, ...inAddresses].flatMap((text = '') => [
    text,
    decoded(text),
  ]);
  return [...new Set(all)].filter((text) => text.length >= minLength).sort((a, b) => b.length - a.length);
}

/** What others have said (errors of libraries and servers), without anything that is secret. */
export function createRedactor(secrets: readonly string[]): (error: unknown) => string {
  return (error) => {
    let text = error instanceof Error ? error.message || error.name : String(error);
    for (const secret of secrets) text = text.replaceAll(secret, '***');
    // Long answers of strangers are cut.
    return text.length > 300 ? `${text.slice(0, 300)}…` : text;
  };
}
