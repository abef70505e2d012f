module.exports = {
  core: require("@redlatch/core"),
  ioredis: require("@redlatch/ioredis"),
  redis: require("@redlatch/redis"),
  testing: require("@redlatch/testing"),
  conformance: require("@redlatch/testing/conformance"),
  upstash: require("@redlatch/upstash"),
};
