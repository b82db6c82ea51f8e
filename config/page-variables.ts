import { z } from 'zod';
import { accentFault } from './accent.ts';
import { appPaths, parseAppPaths } from './app-paths.ts';
import { text, webAddress } from './value-rules.ts';

const optionalFields = ['nickname', 'middle_name', 'website', 'profile'] as const;

/** Optional fields of the profile that members can fill in, with commas. */
const profileFields = z
  .string()
  .transform((value) => [...new Set(value.split(',').map((word) => word.trim()))].filter(Boolean))
  .pipe(z.array(z.enum(optionalFields, `write some of ${optionalFields.join(', ')} with commas between them`)));

/** The variables for pages: links to other apps, pictures, legal texts and the brand. A part of the schema in `schema.ts`. */
export const pageVariables = {
  PROFILE_FIELDS: profileFields.default([]),
  SEARCH_APP_URL: webAddress.optional(),
  MAIN_APP_URL: webAddress.optional(),
  HELP_URL: webAddress.optional(),
  PRIVACY_URL: webAddress.optional(),
  DEVELOPERS_URL: webAddress.optional(),
  /** Profile, wallet, teams, membership, payment methods. */
  USER_MANAGEMENT_URL: webAddress.optional(),
  /** Other paths of those pages in the apps. */
  APP_PATHS: z
    .string()
    .transform((value, context) => {
      const paths = parseAppPaths(value);
      if (paths !== undefined) return paths;
      context.addIssue(`write name=/path, separated by commas; the names are ${Object.keys(appPaths).join(', ')}`);
      return z.NEVER;
    })
    .optional(),
  /** Base address of the users' pictures. */
  MEDIA_URL: webAddress.optional(),
  /** Alternatively their folder: Foyer serves them. */
  MEDIA_DIR: text('a folder').optional(),
  /** Terms of service and imprint: `<language>/terms.md` and `imprint.md`. */
  LEGAL_DIR: text('a folder').optional(),
  /** Texts in place of the shipped ones: `<language>/<file>.json`, as in locales. */
  TEXTS_DIR: text('a folder').optional(),
  BRAND_NAME: text('a name').default('Foyer'),
  BRAND_LOGO_URL: webAddress.optional(),
  BRAND_ACCENT: z
    .string()
    .superRefine((value, context) => {
      const fault = accentFault(value);
      if (fault !== undefined) context.addIssue(fault);
    })
    .optional(),
};
