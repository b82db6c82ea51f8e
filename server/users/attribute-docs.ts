import { doc } from '../http/index.ts';
import type { ProfileField } from './profile-fields.ts';

/** Descriptions and examples of the user attributes in the OpenAPI document. */
export const attributeDocs: Readonly<Record<ProfileField, ReturnType<typeof doc>>> = {
  givenName: doc('Given name', 'Ada'),
  familyName: doc('Family name', 'Lovelace'),
  preferredUsername: doc('User name of the member', 'ada'),
  birthdate: doc('Day of birth (ISO 8601)', '1990-12-31'),
  gender: doc('0 not stated, 1 female, 2 male, 3 other', '1'),
  address: doc('Postal address, also of several lines', '12 Example Street\nBerlin'),
  companyName: doc('Company', 'Engines Ltd'),
  jobTitle: doc('Job title', 'Analyst'),
  nickname: doc('Nickname', 'Ada'),
  middleName: doc('Middle name', 'King'),
  website: doc('Address of a web site of the member', 'https://ada.example'),
  profileUrl: doc('Address of a profile page of the member', 'https://ada.example/profile'),
  newsletter: doc('Whether the member gets the newsletter: true or false', 'true'),
  locale: doc('Language of pages and mails', 'en'),
  zoneinfo: doc('Time zone of the IANA database', 'Europe/Berlin'),
};

export const memberIdDoc = doc('Id of the member', '0197c2a4-7b6e-7d31-9f0a-2c4e6a8b0d1f');
