import { numberArgument, textArgument } from "./arguments.ts";
import { formatExponential, formatFixed, formatGeneral } from "./numbers.ts";
import { toInt64 } from "./replies.ts";
import { UnsupportedLuaError } from "./unsupported.ts";
import type { Host, LuaFunction, LuaValue } from "./values.ts";

const DIRECTIVE = /%(?:%|([-+ #0]*)(\d*)(?:\.(\d*))?(.?))/gs;

interface Directive {
  readonly flags: string;
  readonly precision: number | undefined;
  readonly conversion: string;
}

/** `string.format` with the conversions c, d, i, e, f, g, s, x and X. */
export const format: LuaFunction = (args, host) => {
  let position = 1;
  return textArgument(args, 1, "format", host).replace(
    DIRECTIVE,
    (
      whole,
      flags: string | undefined,
      width: string,
      precision: string | undefined,
      conversion,
    ) => {
      if (flags === undefined) return "%";
      const directive = {
        flags,
        precision: precision === undefined ? undefined : Number(precision),
        conversion,
      };
      position += 1;
      return pad(convert(directive, args, position, host, whole), Number(width), directive);
    },
  );
};

function convert(
  { flags, precision, conversion }: Directive,
  args: LuaValue[],
  position: number,
  host: Host,
  whole: string,
): string {
  if (conversion === "s") {
    return textArgument(args, position, "format", host).slice(0, precision);
  }
  if (!/^[cdiefgxX]$/.test(conversion)) {
    throw new UnsupportedLuaError(`string.format("${whole}")`, host.line);
  }
  const number = numberArgument(args, position, "format", host);
  const text = digitsOf(conversion, number, precision);
  const plus = flags.includes("+") ? "+" : flags.includes(" ") ? " " : "";
  return /[dief]|g/.test(conversion) && !text.startsWith("-") ? plus + text : text;
}

function digitsOf(conversion: string, number: number, precision: number | undefined): string {
  const integer = BigInt(toInt64(number));
  switch (conversion) {
    case "c":
      return String.fromCharCode(Number(integer) & 255);
    case "d":
    case "i": {
      const digits = String(integer < 0n ? -integer : integer).padStart(precision ?? 1, "0");
      return integer < 0n ? `-${digits}` : digits;
    }
    case "e":
      return formatExponential(number, precision ?? 6);
    case "f":
      return formatFixed(number, precision ?? 6);
    case "g":
      return formatGeneral(number, precision ?? 6);
    default: {
      const hex = BigInt.asUintN(64, integer)
        .toString(16)
        .padStart(precision ?? 1, "0");
      return conversion === "X" ? hex.toUpperCase() : hex;
    }
  }
}

function pad(text: string, width: number, { flags, precision, conversion }: Directive): string {
  if (flags.includes("-")) return text.padEnd(width);
  const zeros =
    flags.includes("0") &&
    !/[sc]/.test(conversion) &&
    !(precision !== undefined && /[dixX]/.test(conversion));
  if (!zeros) return text.padStart(width);
  const sign = /^[-+ ]/.exec(text)?.[0] ?? "";
  return sign + text.slice(sign.length).padStart(width - sign.length, "0");
}
