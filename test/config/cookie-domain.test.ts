import { loadConfig } from '../../config/load.ts';

const production = {
  NODE_ENV: 'production',
  PUBLIC_URL: 'https://login.shop.example.co.uk',
  SECRET_KEY: 's'.repeat(40),
  SEARCH_APP_URL: 'https://www.example.co.uk/',
  TRUST_PROXY: '1',
  MAIL_FROM: 'Foyer <no-reply@example.com>',
  SMTP_URL: 'smtp://127.0.0.1:9',
};

const faultOf = (environment: Record<string, string>): string => {
  try {
    loadConfig(environment);
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

describe('COOKIE_DOMAIN', () => {
  it.each([
    ['example.co.uk', 'example.co.uk'],
    ['shop.example.co.uk', 'shop.example.co.uk'],
    ['login.shop.example.co.uk', 'login.shop.example.co.uk'],
    ['.Example.co.UK', 'example.co.uk'],
  ])('may be %s', (given, read) => {
    expect(loadConfig({ ...production, COOKIE_DOMAIN: given }).COOKIE_DOMAIN).toBe(read);
  });

  it.each(['co.uk', 'uk.com'])('attack: %s belongs to strangers too', (suffix) => {
    const environment = { ...production, PUBLIC_URL: `https://login.${suffix}`, COOKIE_DOMAIN: suffix };
    expect(faultOf(environment)).toContain(`COOKIE_DOMAIN: ${suffix} is no domain of yours`);
  });

  it.each(['github.io', 'herokuapp.com', 'pages.dev'])('attack: under %s everybody can have a host', (suffix) => {
    const environment = { ...production, PUBLIC_URL: `https://us.${suffix}`, COOKIE_DOMAIN: suffix };
    expect(faultOf(environment)).toContain('is no domain of yours');
    expect(loadConfig({ ...environment, COOKIE_DOMAIN: `us.${suffix}` }).COOKIE_DOMAIN).toBe(`us.${suffix}`);
  });

  it.each(['example.com', 'ample.co.uk', 'other.example.co.uk', 'a.login.shop.example.co.uk'])(
    '%s does not hold the host of PUBLIC_URL, so no browser would take the cookie',
    (domain) => {
      expect(faultOf({ ...production, COOKIE_DOMAIN: domain })).toContain(`COOKIE_DOMAIN: ${domain} does not hold`);
    },
  );

  it.each(['uk', 'localhost', 'https://example.co.uk', 'example.co.uk:443', 'a b.co.uk', '*.example.co.uk', '.', '..'])(
    '%s is no domain',
    (text) => {
      expect(faultOf({ ...production, COOKIE_DOMAIN: text })).toContain('COOKIE_DOMAIN: write a domain');
    },
  );

  it('an address of this machine has no domain to share with', () => {
    expect(faultOf({ COOKIE_DOMAIN: 'example.com' })).toContain('COOKIE_DOMAIN: example.com does not hold localhost');
    expect(faultOf({ PUBLIC_URL: 'http://127.0.0.1:3000', COOKIE_DOMAIN: '0.0.1' })).toContain('COOKIE_DOMAIN');
  });

  it('is not judged against an address that cannot be read', () => {
    const fault = faultOf({ ...production, PUBLIC_URL: 'nowhere', COOKIE_DOMAIN: 'example.com' });
    expect(fault).toContain('PUBLIC_URL');
    expect(fault).not.toContain('COOKIE_DOMAIN');
  });
});

it.each(['a b', '', 'x'.repeat(101), 'a/b'])('DEFAULT_CLIENT_ID is a client id: not %j', (id) => {
  const fault = faultOf({ ...production, DEFAULT_CLIENT_ID: id });
  if (id === '') expect(fault).toBe('');
  else expect(fault).toContain('DEFAULT_CLIENT_ID: write 1 to 100');
});
