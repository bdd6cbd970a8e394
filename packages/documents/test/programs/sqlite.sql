PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE pump (id integer, code text, price text, note text);
INSERT INTO pump VALUES(738529527931269425,'01234','1.10','quiet');
INSERT INTO pump VALUES(738529527931269426,'01235','2,50',replace('two\nlines, "quoted"','\n',char(10)));
COMMIT;
