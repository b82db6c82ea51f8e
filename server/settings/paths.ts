export const mfaPath = '/settings/mfa';
export const totpPath = `${mfaPath}/totp`;
export const scanPath = `${totpPath}/scan`;
export const activatePath = `${totpPath}/activate`;
export const smsPath = `${mfaPath}/sms`;
export const smsCodePath = `${smsPath}/code`;
export const codesPath = '/settings/recovery-codes';
/** Where a number is verified (contact/). */
export const phonePath = '/settings/phone';
/** Where the settings show it all. */
export const securityHomePath = '/settings?tab=mfa-data';
