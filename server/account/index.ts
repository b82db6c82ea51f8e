/**
 * The room of members: who they are, what is stored of them, what a client app may learn of them.
 *
 * Owns members and their records, the partner's deals, who must accept the terms of service and who has, and the claims
 * (OpenID Connect Core 1.0, section 5).
 * Does not own passwords (password/), sessions (session/), what the terms say (legal/), nor accounts that are only begun (sign-up/).
 */

export { attributesOf } from './attributes.ts';
export { callingMember, memberCalling } from './callers.ts';
export {
  type Claims,
  claimsByScope,
  claimsFor,
  type MembershipClaims,
  type MembershipClaimsOf,
} from './claims.ts';
export { changeEmail, type EmailChange, findEmailChange, undoEmailChange } from './email-change-store.ts';
export {
  type ImportedMember,
  type ImportOutcome,
  type ImportRefusal,
  type Known,
  nothingKnown,
} from './import-rules.ts';
export { importMembers, rehearseImport } from './import-store.ts';
export { eraseMemberData, memberData } from './member-data-store.ts';
export { accountOperations } from './operations.ts';
export { type Media, pageMember } from './page-member.ts';
export { hasPartnerDeal } from './partner-deal-operations.ts';
export {
  claimPartnerDeal,
  findPartnerDeal,
  importPartnerDeals,
  isDealPostponed,
  isPartnerTier,
  type PartnerDeal,
  type PartnerTier,
  partnerTiers,
  postponePartnerDeal,
} from './partner-deal-store.ts';
export {
  countForeignProfiles,
  countOwnHashes,
  countWrappedHashes,
  foreignProfiles,
  type NewPassword,
  rehashPassword,
  setPassword,
  someAwaitPassword,
} from './password-store.ts';
export { phoneChangedSince, removePhone, setPhone } from './phone-store.ts';
export {
  genders,
  isBirthdate,
  mostProfileCharacters,
  type ProfileFault,
  type ProfileField,
  profileFields,
  readProfile,
  type TypedProfile,
} from './profile-rules.ts';
export { type ProfileChange, setProfile } from './profile-store.ts';
export { setSecondFactorRequired, takeOverUser } from './provider-member-store.ts';
export { memberRecipients } from './recipients.ts';
export type { PlanChanges } from './record-operations.ts';
export type { SaveProfile, SentProfile } from './save-profile.ts';
export { Taken } from './taken.ts';
export { mustAcceptTerms, type TermsVersion } from './terms.ts';
export {
  acceptancesOf,
  mostUserAgentCharacters,
  recordAcceptance,
  type TermsAcceptance,
} from './terms-ledger-store.ts';
export {
  accountOf,
  fullName,
  identifierOf,
  type MfaPreference,
  mostIdentifierCharacters,
  mostNameCharacters,
  type NewUser,
  normalEmail,
  normalPhone,
  type User,
} from './user.ts';
export {
  findUserRecord,
  findUserRecordById,
  insertUserRecord,
  readsImageNames,
  type UserRecord,
  type UserRecordChange,
  updateUserRecord,
} from './user-record-store.ts';
export {
  confirmEmail,
  currentUser,
  findUser,
  findUserByIdentifier,
  holdMember,
  insertUser,
  listUsers,
  noteSignIn,
  setDisabled,
  setLocale,
  setMfaPreference,
  setSource,
} from './user-store.ts';
