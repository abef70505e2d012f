/** Says whether a container engine (Docker, or one that speaks its protocol) answers a ping in time. */
export declare function containerEngineAnswers(timeoutMs?: number): Promise<boolean>;
