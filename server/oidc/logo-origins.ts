/** The origin of a client app's logo, for the content security policy; empty if there is no such address. */
export function toLogoOrigins(logoUrl: string | undefined): string[] {
  const origin = logoUrl === undefined ? undefined : URL.parse(logoUrl)?.origin;
  return origin === undefined || origin === 'null' ? [] : [origin];
}
