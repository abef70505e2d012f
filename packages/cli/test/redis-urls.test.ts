import { describe, expect, it } from "vitest";
import { parseRedisUrls } from "../src/demo/redis-urls.ts";

describe("addresses of real nodes", () => {
  it("are separated by commas", () => {
    expect(parseRedisUrls("redis://a, rediss://user:p%40ss@b:6380/2")).toEqual([
      "redis://a",
      "rediss://user:p%40ss@b:6380/2",
    ]);
  });

  it.each([
    ["redis://a,,redis://b", "--nodes: address 2 is empty"],
    ["localhost:7001", "address 1 (localhost:7001) must begin with redis:// or rediss://"],
    ["redis://a:99999", "address 1 (redis://a:99999) is no URL"],
    ["redis:///0", "address 1 has no host"],
    ["redis://a/b", "address 1 has a path that is no database number"],
    ["redis://:a%zz@b", "address 1 (redis://***@b) has a % in its credentials"],
  ])("are refused by place and reason: %s", (text, message) => {
    expect(() => parseRedisUrls(text)).toThrow(message);
  });

  it.each([
    "http://user:s3cret@host",
    "redis://user:s3cret@host:port",
    "redis://user:s3cret",
    "user:s3cret@host:7001",
    "redis://:s3cret@",
    "redis://:s3cret@a@b:99999",
    "redis://:s3cret%@b",
    "redis://host/x?password=s3cret",
  ])("are refused without showing a password: %s", (text) => {
    const refuse = () => parseRedisUrls(`redis://a,${text}`);
    expect(refuse).toThrow("--nodes: address 2");
    expect(refuse).not.toThrow("s3cret");
  });
});
