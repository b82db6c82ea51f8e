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
  ])('COOKIE_DOMAIN may be %s', (given, read) => {
    expect(loadConfig({ ...production, COOKIE_DOMAIN: given }).COOKIE_DOMAIN).toBe(read);
  });

  it.each(['co.uk', 'uk.com'])('Attack: COOKIE_DOMAIN is %s, which other sites share', (suffix) => {
    const environment = { ...production, PUBLIC_URL: `https://login.${suffix}`, COOKIE_DOMAIN: suffix };
    expect(faultOf(environment)).toContain(`COOKIE_DOMAIN: ${suffix} is no domain of yours`);
  });

  it.each(['github.io', 'herokuapp.com', 'pages.dev'])(
    'Attack: COOKIE_DOMAIN is %s, under which anyone can have a host',
    (suffix) => {
      const environment = { ...production, PUBLIC_URL: `https://us.${suffix}`, COOKIE_DOMAIN: suffix };
      expect(faultOf(environment)).toContain('is no domain of yours');
      expect(loadConfig({ ...environment, COOKIE_DOMAIN: `us.${suffix}` }).COOKIE_DOMAIN).toBe(`us.${suffix}`);
    },
  );

  it.each(['example.com', 'ample.co.uk', 'other.example.co.uk', 'a.login.shop.example.co.uk'])(
    'COOKIE_DOMAIN may not be %s, because it does not contain the host of PUBLIC_URL',
    (domain) => {
      expect(faultOf({ ...production, COOKIE_DOMAIN: domain })).toContain(`COOKIE_DOMAIN: ${domain} does not hold`);
    },
  );

  it.each(['uk', 'localhost', 'https://example.co.uk', 'example.co.uk:443', 'a b.co.uk', '*.example.co.uk', '.', '..'])(
    'COOKIE_DOMAIN may not be %s, which is no domain',
    (text) => {
      expect(faultOf({ ...production, COOKIE_DOMAIN: text })).toContain('COOKIE_DOMAIN: write a domain');
    },
  );

  it('COOKIE_DOMAIN is refused when PUBLIC_URL is an address of this machine', () => {
    expect(faultOf({ COOKIE_DOMAIN: 'example.com' })).toContain('COOKIE_DOMAIN: example.com does not hold localhost');
    expect(faultOf({ PUBLIC_URL: 'http://127.0.0.1:3000', COOKIE_DOMAIN: '0.0.1' })).toContain('COOKIE_DOMAIN');
  });

  it('COOKIE_DOMAIN is not checked against a PUBLIC_URL that cannot be read', () => {
    const fault = faultOf({ ...production, PUBLIC_URL: 'nowhere', COOKIE_DOMAIN: 'example.com' });
    expect(fault).toContain('PUBLIC_URL');
    expect(fault).not.toContain('COOKIE_DOMAIN');
  });
});

it.each(['a b', '', 'x'.repeat(101), 'a/b'])('DEFAULT_CLIENT_ID must be a client id and not %j', (id) => {
  const fault = faultOf({ ...production, DEFAULT_CLIENT_ID: id });
  if (id === '') expect(fault).toBe('');
  else expect(fault).toContain('DEFAULT_CLIENT_ID: write 1 to 100');
});
