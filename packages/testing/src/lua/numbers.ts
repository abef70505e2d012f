/** Writes a number as Lua 5.1 does (`%.14g`): 1760000000000000 becomes `1.76e+15`. */
export function formatNumber(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 1e14 && !Object.is(value, -0)) {
    return String(value);
  }
  return formatGeneral(value, 14);
}

/** Writes a number as Redis passes it to a command (`%.17g`): integers stay whole up to 1e17. */
export function formatArgument(value: number): string {
  if (Number.isSafeInteger(value) && !Object.is(value, -0)) {
    return String(value);
  }
  return formatGeneral(value, 17);
}

/** C's `%.{precision}g`. */
export function formatGeneral(value: number, precision: number): string {
  if (!Number.isFinite(value)) {
    return formatSpecial(value);
  }
  const digits = Math.max(precision, 1);
  const [mantissa, power] = exponential(value, digits - 1);
  if (power < -4 || power >= digits) {
    return `${dropTrailingZeros(mantissa)}${formatExponent(power)}`;
  }
  return dropTrailingZeros(formatFixed(value, digits - 1 - power));
}

/** C's `%.{decimals}e`. */
export function formatExponential(value: number, decimals: number): string {
  if (!Number.isFinite(value)) {
    return formatSpecial(value);
  }
  const [mantissa, power] = exponential(value, decimals);
  return `${mantissa}${formatExponent(power)}`;
}

/** C's `%.{decimals}f`: exact ties round to the even digit, where JavaScript rounds them up. */
export function formatFixed(value: number, decimals: number): string {
  if (!Number.isFinite(value)) {
    return formatSpecial(value);
  }
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  const size = Math.abs(value);
  if (size >= 1e21) {
    // From here on toFixed would switch to an exponent. Such a number is an integer.
    return `${sign}${BigInt(size)}${decimals > 0 ? `.${"0".repeat(decimals)}` : ""}`;
  }
  const exact = size.toFixed(100);
  const cut = exact.length - 100 + decimals;
  if (isEvenTie(exact, cut)) {
    return sign + exact.slice(0, decimals === 0 ? cut - 1 : cut);
  }
  return sign + size.toFixed(decimals);
}

/** Reads a number as Lua 5.1's `tonumber` (C's strtod with blanks around): undefined when it is none. */
export function parseNumber(text: string): number | undefined {
  const trimmed = text.replace(/^[ \t\n\v\f\r]+|[ \t\n\v\f\r]+$/g, "");
  if (/^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(trimmed)) {
    return Number(trimmed);
  }
  const special = /^([+-]?)(?:0x([\da-f]+)|(inf(?:inity)?)|nan)$/i.exec(trimmed);
  if (!special) {
    return undefined;
  }
  const [, sign, hex, infinite] = special;
  const size = hex ? Number(`0x${hex}`) : infinite ? Number.POSITIVE_INFINITY : Number.NaN;
  return sign === "-" ? -size : size;
}

function formatSpecial(value: number): string {
  // The sign of NaN cannot be seen here; x86 gives the one of 0/0, its usual origin, as negative.
  if (Number.isNaN(value)) return "-nan";
  return value > 0 ? "inf" : "-inf";
}

function exponential(value: number, decimals: number): [mantissa: string, power: number] {
  const [rounded, power] = value.toExponential(decimals).split("e") as [string, string];
  const sign = Object.is(value, -0) ? "-" : "";
  const [exact, exactPower] = value.toExponential(100).split("e") as [string, string];
  const cut = exact.length - 100 + decimals;
  if (isEvenTie(exact, cut)) {
    return [sign + exact.slice(0, decimals === 0 ? cut - 1 : cut), Number(exactPower)];
  }
  return [sign + rounded, Number(power)];
}

/** Whether the digits from `cut` on are exactly one half and the digit before is even. */
function isEvenTie(digits: string, cut: number): boolean {
  const before = digits[cut - 1] === "." ? digits[cut - 2] : digits[cut - 1];
  return "02468".includes(before ?? "1") && /^50*$/.test(digits.slice(cut));
}

function formatExponent(power: number): string {
  return `e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}

function dropTrailingZeros(digits: string): string {
  return digits.includes(".") ? digits.replace(/\.?0+$/, "") : digits;
}
