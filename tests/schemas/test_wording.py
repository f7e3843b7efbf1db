from schemas.wording import counted, tally_failures


def test_one_is_told_in_the_singular_and_many_with_separators():
    assert counted(1, "question") == "1 question"
    assert counted(2000, "question") == "2,000 questions"
    assert counted(0, "stratum", "strata") == "0 strata"


def test_failures_are_told_by_reason_with_the_most_frequent_detail():
    failures = [("timeout", "no answer within 60 s"), *[("connection", "no connection to http://x/v1")] * 2]
    failures.append(("connection", "no connection; 6 attempts"))
    assert (
        tally_failures(failures)
        == "connection 3: no connection to http://x/v1; timeout 1: no answer within 60 s"
    )
    assert tally_failures([]) == ""
