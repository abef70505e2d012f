import { UsageError } from "../usage-error.ts";

/**
 * Reads addresses separated by commas.
 *
 * @throws UsageError that names the address by its place and, without credentials, by its text.
 */
export function parseRedisUrls(text: string): readonly string[] {
  return text.split(",").map((part, index) => {
    const url = part.trim();
    const problem = problemOf(url);
    if (problem) throw new UsageError(`--nodes: address ${index + 1}${shownUrl(url)} ${problem}`);
    return url;
  });
}

function problemOf(url: string): string | undefined {
  if (url === "") return "is empty";
  if (!/^rediss?:\/\//i.test(url)) return "must begin with redis:// or rediss://";
  if (!URL.canParse(url)) return "is no URL like redis://host:port/db";
  const { hostname, pathname, username, password } = new URL(url);
  if (!isDecodable(username + password)) return "has a % in its credentials that must be %25";
  if (hostname === "") return "has no host";
  if (!/^(\/\d*)?$/.test(pathname)) return "has a path that is no database number";
  return undefined;
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** Only what is surely a scheme, a host, a port and a database: anything else may be a password. */
function shownUrl(url: string): string {
  const [, scheme = "", rest = ""] = /^([a-z]+:\/\/)?(.*)$/is.exec(url) ?? [];
  const place = rest.slice(rest.lastIndexOf("@") + 1);
  if (!/^[\w.-]+(:\d+)?(\/\d*)?$/.test(place)) return "";
  return ` (${scheme}${rest.includes("@") ? "***@" : ""}${place})`;
}
