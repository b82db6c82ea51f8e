import { getCountries } from 'libphonenumber-js/max';
import { ConfigurationError, loadConfig } from '../../config/load.ts';

const development = { NODE_ENV: 'test', SANDBOX: 'true', SECRET_KEY: 'k'.repeat(48), DATA_DIR: '/tmp' };
const production = {
  NODE_ENV: 'production',
  PUBLIC_URL: 'https://login.example.com',
  SECRET_KEY: 'k'.repeat(48),
  SEARCH_APP_URL: 'https://search.example.com',
  TRUST_PROXY: '1',
  MAIL_FROM: 'no-reply@example.com',
  SMTP_URL: 'smtps://mail.example.com',
};
const twilio = {
  TWILIO_ACCOUNT_SID: `AC${'1'.repeat(32)}`,
  TWILIO_AUTH_TOKEN: 'token',
  TWILIO_FROM: '+15557122661',
  SMS_COUNTRIES: 'DE,AT',
};

function faults(given: Record<string, string>): readonly string[] {
  try {
    loadConfig(given);
    return [];
  } catch (error) {
    if (error instanceof ConfigurationError) return error.faults;
    throw error;
  }
}

describe('the configuration of text messages', () => {
  it('Text messages may be left out everywhere', () => {
    expect(faults(development)).toEqual([]);
    expect(faults(production)).toEqual([]);
    expect(faults({ ...production, ...twilio })).toEqual([]);
  });

  it.each([
    ['TWILIO_ACCOUNT_SID', /^TWILIO_ACCOUNT_SID is missing/],
    ['TWILIO_AUTH_TOKEN', /^TWILIO_AUTH_TOKEN is missing/],
    ['TWILIO_FROM', /^TWILIO_FROM or TWILIO_MESSAGING_SERVICE_SID is missing/],
    // Production pays.
    ['SMS_COUNTRIES', /^SMS_COUNTRIES is missing/],
  ] as const)('The configuration of text messages without %s is refused', (name, fault) => {
    const { [name]: _, ...rest } = { ...production, ...twilio };
    expect(faults(rest)).toEqual([expect.stringMatching(fault)]);
  });

  it('The credentials are sent only over https', () => {
    expect(faults({ ...production, ...twilio, TWILIO_URL: 'http://api.twilio.com' })).toEqual([
      'TWILIO_URL: must begin with https:// in production',
    ]);
  });

  it.each(['+15557122661', '72345', 'Foyer', 'My Market 1'])('Text messages may be sent from %s', (from) => {
    expect(faults({ ...development, ...twilio, TWILIO_FROM: from })).toEqual([]);
  });

  it.each(['+1 555 7122661', '12', 'a name that is too long', '123456789', ''.padEnd(12, 'a')])(
    'Text messages may not be sent from “%s”',
    (from) => {
      expect(faults({ ...development, ...twilio, TWILIO_FROM: from })).toEqual([
        expect.stringMatching(/^TWILIO_FROM: write/),
      ]);
    },
  );

  it('SMS_COUNTRIES is read in any case of letters, each country once', () => {
    expect(loadConfig({ ...development, SMS_COUNTRIES: 'de, AT,de' }).SMS_COUNTRIES).toEqual(['DE', 'AT']);
  });

  it('SMS_COUNTRIES accepts every country that has telephone numbers', () => {
    const countries = getCountries();
    expect(loadConfig({ ...development, SMS_COUNTRIES: countries.join() }).SMS_COUNTRIES).toEqual(countries);
  });

  // There is no such country; people mean GB.
  it.each(['UK', 'EU', 'XX', 'DE,', 'Germany', '49', 'DE AT'])(
    'The value %s is refused as a list of countries',
    (countries) => {
      expect(faults({ ...development, SMS_COUNTRIES: countries })).toEqual([
        expect.stringMatching(/^SMS_COUNTRIES: write countries/),
      ]);
    },
  );
});
