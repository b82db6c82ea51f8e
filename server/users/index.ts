/**
 * The module of users: their identity, their stored data, and the claims for client apps.
 * Owns users and their records, the partner's deals, the acceptances of the terms of service, and the claims (OpenID
 * Connect Core 1.0, section 5). Does not own passwords (password/), sessions (sessions/), the text of the terms
 * (sign-in/), nor unconfirmed sign-ups (sign-up/).
 */

export { findCallingUser, requireCallingUser } from './api-user.ts';
export { attributeDocs, memberIdDoc } from './attribute-docs.ts';
export {
  type Claims,
  claimsByScope,
  claimsFor,
  createPictureClaim,
  type GetMembershipClaims,
  listProfileClaims,
  type MembershipClaims,
  toGenderNumber,
  type WithPicture,
} from './claims.ts';
export { cognitoAttributesSchema, toCognitoAttributes } from './cognito-attributes.ts';
export { changeEmail, type EmailChange, findEmailChange, undoEmailChange } from './email-change-store.ts';
export { claimUnverifiedUser, setSecondFactorRequired } from './federated-user-store.ts';
export type { ImportedUser, ImportOutcome, ImportRefusal } from './import-rules.ts';
export { insertImportedUsers, rehearseImport } from './import-store.ts';
export { insertUser } from './insert-user-store.ts';
export { graphqlUsers } from './list-users.ts';
export { userOperations } from './operations.ts';
export { createPageUserSetter, toPageUser } from './page-user.ts';
export { hasPartnerDeal } from './partner-deal-operations.ts';
export {
  claimPartnerDeal,
  findPartnerDeal,
  importPartnerDeals,
  isDealPostponed,
  isPartnerTier,
  type PartnerTier,
  partnerTiers,
  postponePartnerDeal,
} from './partner-deal-store.ts';
export {
  countForeignProfiles,
  countOwnHashes,
  countWrappedHashes,
  listImportedHashProfiles,
  rehashPassword,
  setPassword,
  someAwaitPassword,
} from './password-store.ts';
export type { PersonalDataSource } from './personal-data-source.ts';
export { eraseUserData, exportUserData } from './personal-data-store.ts';
export { hasPhoneChangedSince, removePhone, setPhone } from './phone-store.ts';
export { cleanImage } from './pictures/clean-image.ts';
export { readPictureAttribute } from './pictures/picture-attribute.ts';
export { listPictureOwners, setPicture, storeUploaded, sweepPictures } from './pictures/picture-store.ts';
export { uploadedPictures } from './pictures/uploaded-pictures.ts';
export {
  genders,
  isBirthdate,
  isUserDataField,
  listWithheldFields,
  mapUserData,
  nameForm,
  type ProfileField,
  profileFieldNames,
  profileFields,
  type TypedProfile,
  toTimeZone,
  userDataForm,
} from './profile-fields.ts';
export { type ProfileChange, setProfile } from './profile-store.ts';
export { createUserRecipients } from './recipients.ts';
export type { PlanCommands } from './record-operations.ts';
export { textsPerUser } from './rehearsed-rows.ts';
export type { SaveProfile } from './save-profile.ts';
export { listTermsAcceptances, maxUserAgentLength, recordAcceptance } from './terms-ledger-store.ts';
export {
  AlreadyInUseError,
  findOpenStep,
  fullName,
  type Media,
  type MfaPreference,
  maxIdentifierLength,
  maxNameLength,
  mustAcceptTerms,
  mustSetUpSecondFactor,
  type NewUser,
  normaliseEmail,
  normalisePhone,
  type OpenStep,
  parseIdentifier,
  type TermsVersion,
  toAccountKey,
  type User,
  uploadFolder,
} from './user.ts';
export { type CreatedUser, createUserHooks, mailWelcome, type UserHooks, type UserSubscribers } from './user-hooks.ts';
export { isEnabledUser, isErasedUser, listUsers } from './user-list-store.ts';
export { findUserRecord, insertUserRecord, updateUserRecord } from './user-record-store.ts';
export {
  confirmEmail,
  currentUserQuery,
  findCurrentUser,
  findUser,
  findUserByIdentifier,
  lockUser,
  recordSignIn,
  rememberCurrentUser,
  setDisabled,
  setLocale,
  setMfaPreference,
  setSource,
  setUserPlan,
  setVerified,
  toCurrentUser,
} from './user-store.ts';
