export const mfaPath = '/settings/mfa';
export const totpPath = `${mfaPath}/totp`;
export const scanPath = `${totpPath}/scan`;
export const activatePath = `${totpPath}/activate`;
export const smsPath = `${mfaPath}/sms`;
export const smsCodePath = `${smsPath}/code`;
export const codesPath = '/settings/recovery-codes';
/** The page that verifies a number (account/). */
export const phonePath = '/settings/phone';
/** The overview in the settings. */
export const securityHomePath = '/settings?tab=mfa-data';
