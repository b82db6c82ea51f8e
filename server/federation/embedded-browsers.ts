/**
 * Browsers inside another app: Google and Facebook refuse them, because the app could read the user's input. They are
 * only recognizable by their User-Agent: Android's WebView has `; wv)`, on iOS one without Safari's name, and apps that
 * name themselves.
 */
const signs = [
  /; wv\)/,
  /^(?=.*\b(?:iPhone|iPad|iPod)\b)(?=.*AppleWebKit)(?!.*Safari\/)/,
  /\bFB(?:AN|AV|_IAB)\b|\bFBIOS\b/,
  /\b(?:Instagram|Barcelona|MicroMessenger|LinkedInApp|Snapchat|Pinterest|BytedanceWebview|musical_ly|TikTok)\b|\bLine\//,
  /\bTwitter for (?:iPhone|iPad|Android)\b/,
];

/** @param userAgent as the browser sent it; without it the browser counts as a normal one */
export function isEmbeddedBrowser(userAgent: string | undefined): boolean {
  const claims = userAgent?.slice(0, 1_000) ?? '';
  return signs.some((sign) => sign.test(claims));
}
