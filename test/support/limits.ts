import { schema } from '../../config/schema.ts';
import { configureLimits, type LimitSettings, type RateLimits } from '../../server/http/index.ts';

const names = [
  ...['GUESS_LIMIT_ACCOUNT', 'GUESS_LIMIT_DEVICE', 'GUESS_LIMIT_ADDRESS', 'GUESS_LIMIT_OVERALL'],
  ...['PASSWORD_LIMIT_DEVICE', 'PASSWORD_LIMIT_MEMBER', 'COMPANY_LIMIT_ADDRESS'],
  ...['SIGN_UP_LIMIT_ADDRESS', 'SIGN_UP_LIMIT_OVERALL'],
  ...['CARD_LIMIT_MEMBER', 'CARD_LIMIT_ADDRESS', 'CARD_LIMIT_OVERALL'],
  ...['SMS_LIMIT_MEMBER', 'SMS_LIMIT_NUMBER', 'SMS_LIMIT_ADDRESS', 'SMS_LIMIT_OVERALL'],
  ...['API_LIMIT_CALLER', 'API_LIMIT_ADDRESS', 'API_LIMIT_VISITORS'],
  ...['GUESS_WINDOW_MINUTES', 'SIGN_UP_WINDOW_MINUTES', 'CARD_WINDOW_MINUTES', 'OVERALL_LANE_PER_SECOND'],
] as (keyof LimitSettings)[];

/** The defaults of the configuration. */
export const usualSettings = Object.fromEntries(
  names.map((name) => [name, schema.shape[name].parse(undefined)]),
) as LimitSettings;

/** The table of the product with these numbers instead of the defaults. */
export const limitsWith = (settings: Partial<LimitSettings>, reached: (key: string) => void = () => {}): RateLimits =>
  configureLimits({ ...usualSettings, ...settings }, { reached });
