import { nothing } from "@redlatch/core";

export default nothing;
